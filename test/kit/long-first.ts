// Which test files start first: those that take long although they are small, so that the last worker does not end alone
// with one of them. Without measurements of a run before, vitest would begin with the largest files.

import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The first that fits counts. */
const long = [/python-client/, /\.fault\.test\.ts$/, /^test\/process\//, /^test\/laws\//, /\.property\.test\.ts$/];

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).sort((a, b) => this.#rank(a) - this.#rank(b)),
    );
  }

  #rank({ moduleId }: TestSpecification): number {
    const path = relative(this.ctx.config.root, moduleId);
    const found = long.findIndex((pattern) => pattern.test(path));
    return found < 0 ? long.length : found;
  }
}
