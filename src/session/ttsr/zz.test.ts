import { it } from "vitest";
import { analyzeExpression } from "./analyze-expression.js";

it("families", () => {
  const n = (open: string, body: string, close: string, k: number) => open.repeat(k) + body + close.repeat(k);
  const fam: string[] = [];
  for (const k of [5, 6, 7, 50, 150, 180])
    fam.push(
      n("(?:[ab]|", "a", ")", k),
      n("(?:a?", "b", ")", k),
      n("(?:(?=a|b)", "a", ")", k),
      n("(?:a|ab|", "a", ")", k),
      n("((a)|", "b", ")", k),
      n("(?=a|", "b", ")", k),
      n("(?!a|", "b", ")", k),
      n("(?<!a|", "b", ")", k),
    );
  for (const k of [5, 6, 7, 8])
    for (const q of ["{3}", "*", "+", "{2,3}", "?", "{1,3}?"])
      fam.push(
        n("(?:[ab]|", "a", ")" + q, k) + "x",
        n("(?:a?b?", "b", ")" + q, k) + "x",
        n("((a)|", "b", ")" + q, k) + "x",
        n("(?:(?=a)|", "b", ")" + q, k) + "x",
      );
  for (const p of [
    "(?:a|b)",
    "(a|b)?",
    "a?",
    "[ab]?",
    "(?:ab|ba)",
    "(?:a|ab)?",
    "(?=a|b)",
    "\\b",
    "(?:a|b){3}",
    "(?:a|b|c)*",
    "(?:ab?){2,3}",
    "(?!a)",
    "(?<=a|b)",
    ".*",
    "(?:^|\\b)",
  ])
    fam.push(p.repeat(Math.floor(1990 / p.length)) + "x");
  const worst: [number, number, string][] = [];
  for (const s of fam) {
    if (s.length > 2000) continue;
    const { size } = analyzeExpression(s, 8193);
    if (size > 20000) continue;
    const r = new RegExp(s, "g");
    const t = performance.now();
    for (let k = 0; k < 4; k++) {
      r.lastIndex = 0;
      try {
        r.test(["", "z", "zz", "zé"][k]!);
      } catch (e) {
        console.log("throws", String(e).slice(-50), size);
      }
    }
    worst.push([performance.now() - t, size, s]);
  }
  worst.sort((a, b) => b[0] - a[0]);
  console.log(fam.length, worst.length);
  for (const w of worst.slice(0, 12)) console.log(w[0].toFixed(1), w[1], w[2].length, w[2].slice(0, 60));
}, 100000);
