import { visibleWidth } from "@earendil-works/pi-tui";
import { describe, expect, it } from "vitest";
import { type AgentSession, plainTheme } from "../sdk/index.js";
import { footerLines, sessionWarnings } from "./footer.js";

const session = {
  model: { provider: "anthropic", id: "sonnet" },
  thinkingLevel: "medium",
  sessionName: "carts",
  getSessionStats: () => ({ tokens: { input: 12_000, output: 3000 }, cost: 0.042 }),
  getContextUsage: () => ({ percent: 14, contextWindow: 200_000 }),
} as object as AgentSession;
const facts = { session, access: "workspace", directory: "~/shop", branch: "main", pending: 1, warnings: [] };
const lines = (width: number) =>
  footerLines(facts, plainTheme, width).map((line) => line.replace(/ +/g, " ").trimEnd());

describe("the footer", () => {
  it("shows everything where there is room", () => {
    expect(lines(100)).toEqual([
      " ~/shop main · carts · workspace anthropic/sonnet · medium",
      " ↑12k ↓3k $0.042 ctx 14% of 200k 1 pending",
    ]);
  });

  it("drops the branch first, then the name, the directory, the thinking level; never what matters", () => {
    const first = (width: number) => lines(width)[0];
    expect(first(57)).toBe(" ~/shop · carts · workspace anthropic/sonnet · medium");
    expect(first(50)).toBe(" ~/shop · workspace anthropic/sonnet · medium");
    expect(first(42)).toBe(" workspace anthropic/sonnet · medium");
    expect(first(36)).toBe(" workspace anthropic/sonnet");
    expect(lines(36)[1]).toContain("1 pending");
    expect(lines(20).at(-1)).toContain("1 pending");
  });

  it("takes one line more before it drops or cuts what must not go", () => {
    const long = { ...facts, warnings: ["· approvals off", "· no session"] };
    const all = footerLines(long, plainTheme, 42).map((line) => line.trimEnd());
    expect(all).toEqual([
      " workspace · approvals off · no session",
      " anthropic/sonnet",
      expect.stringContaining("1 pending"),
    ]);
    for (const width of [20, 24, 30, 40, 60, 100]) {
      const text = footerLines(long, plainTheme, width).join("\n");
      for (const never of ["1 pending", "workspace", "anthropic/sonnet"])
        expect([width, text]).toEqual([width, expect.stringContaining(never)]);
      expect(text.split("\n").every((line) => visibleWidth(line) <= width)).toBe(true);
    }
  });

  it("warns of what is unusual", () => {
    const about = (given: object) =>
      sessionWarnings({
        sessionFile: "/s",
        extensionSummary: { hasUntrusted: false },
        ...given,
      } as object as AgentSession);
    expect(about({})).toEqual([]);
    expect(about({ sessionFile: undefined })).toEqual(["· no session"]);
    expect(about({ readOnlyReason: "x", extensionSummary: { hasUntrusted: true } })).toEqual([
      "· read-only file",
      "· untrusted",
    ]);
  });
});
