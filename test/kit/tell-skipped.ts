// At the end of a run: a line for each test that was skipped, or for a whole group of them. Its title says why. The usual
// report only counts them.

import type { Reporter, SerializedError, TestModule, TestSuite, Vitest } from "vitest/node";

export class TellSkipped implements Reporter {
  #isWhole = true;

  onInit({ config }: Vitest): void {
    this.#isWhole = config.testNamePattern === undefined; // else those of other names are skipped, too
  }

  onTestRunEnd(modules: readonly TestModule[], _errors: readonly SerializedError[]): void {
    if (!this.#isWhole) return;
    const lines = modules.flatMap((module) => skippedIn(module).map((title) => `${module.relativeModuleId}: ${title}`));
    if (lines.length > 0) console.log(`\n${[...new Set(lines)].map((line) => `Skipped: ${line}`).join("\n")}`);
  }
}

/** A group whose title says why counts as one. */
function skippedIn(group: TestModule | TestSuite): string[] {
  return group.children.array().flatMap((child): string[] => {
    if (child.type === "test") return child.result().state === "skipped" ? [child.fullName] : [];
    return child.name.includes("skipped") && areSkipped(child) ? [child.fullName] : skippedIn(child);
  });
}

function areSkipped(suite: TestSuite): boolean {
  return [...suite.children.allTests()].every((test) => test.result().state === "skipped");
}
