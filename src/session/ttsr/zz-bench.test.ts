import { it } from "vitest";
import { RuleMatcher } from "./matcher.js";
import { parseRule } from "./rule.js";

const log = { warn: (t: string) => console.log("WARN", t), error: console.log };
const rule = async (name: string, head: string) => {
  const r = await parseRule({ path: `rules/${name}.md`, text: `---\n${head}\n---\nbody` }, log);
  if (r?.kind !== "stream") throw new Error("no rule " + name);
  return r.rule;
};
it("bench", async () => {
  const sets = {
    quick: ["condition: '\\bany\\b'", "condition: console\\.log", "condition: '(?:foo|bar)baz'"],
    oneStar: ["condition: ':\\s*any\\b'"],
    slowLiteral: ["condition: 'import .* from\\s+[\"'']lodash'"],
    slowNoLiteral: ["condition: '\\w+\\s*[=:]\\s*\\d+'"],
    common: ["condition: 'lorem.*ipsum.*xyz'"],
    common2: ["condition: 'lorem.*ipsum.*[xyz][xyz]'"],
    five: [
      "condition: '\\bany\\b'",
      "condition: console\\.log",
      "condition: ':\\s*any\\b'",
      "condition: '\\.unwrap\\(\\)'",
      "condition: 'as\\s+unknown\\s+as'",
    ],
  };
  for (const [n, heads] of Object.entries(sets)) {
    const rules = await Promise.all(heads.map((h, i) => rule("r" + i, h)));
    console.log(
      n,
      JSON.stringify(
        rules.flatMap((r) => r.triggers.map((t) => [t.expression.isQuick, t.expression.overlap, t.expression.literal])),
      ),
    );
    for (let round = 0; round < 2; round++) {
      const m = new RuleMatcher({ cwd: "/p", log });
      m.reset(rules);
      const t = performance.now();
      let hits = 0;
      for (let i = 0; i < 8000; i++) {
        hits += m.append("text", " lorem ipsum dolor" + (i % 7 === 0 ? "\n" : "")).length;
      }
      console.log(n, (((performance.now() - t) / 8000) * 1000).toFixed(1), "µs/delta", hits);
    }
  }
  const glob = await rule("g", "condition: '*.rs'");
  const m = new RuleMatcher({ cwd: "/p", log });
  m.reset([glob]);
  m.openToolCall(1, "write");
  let t = performance.now();
  let hits = 0;
  hits += m.append(1, '{"content":"').length;
  for (let i = 0; i < 8000; i++) hits += m.append(1, "fn main() \\n some").length;
  console.log("glob", (((performance.now() - t) / 8000) * 1000).toFixed(1), "µs/delta", hits);
  hits += m.append(1, '","path":"src/a.r').length;
  hits += m.append(1, 's"}').length;
  console.log("hits", hits);
  const bad = await rule("bad", "condition: '(a+)+$'");
  m.reset([bad]);
  t = performance.now();
  m.append("text", "a".repeat(40) + "!");
  console.log(bad.triggers[0]!.expression);
  m.append("text", "b");
  m.end("text");
  console.log("bad", performance.now() - t);
  const bad2 = await rule("bad2", "condition: '(a+)+[bc]'");
  m.reset([bad2]);
  t = performance.now();
  m.append("text", "a".repeat(40) + "!");
  m.append("text", "c");
  console.log("bad2", performance.now() - t);
});
