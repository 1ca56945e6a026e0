import { describe, expect, it } from "vitest";
import { createRig, noViews, shortForm, viewTitle } from "./layer.test-kit.js";

describe.skipIf(noViews !== undefined)(`the view of a staged command${viewTitle}`, () => {
  it("shows the project, and leaves it alone", async () => {
    const { root, run, view } = await createRig({ "a.txt": "one\n", "d/b": "b", "d/c": "c", "e/x": "x" });
    expect(view.mechanism).toBe("overlay");
    const found = await run(
      "cat a.txt; echo two >> a.txt; rm d/b; mkdir -p n/m; echo new > n/m/f; ln -s a.txt link; rm -r e; mkdir e; echo y > e/y; touch d/c",
    );
    expect(found.output).toBe("one\n");
    expect(shortForm(found, root)).toEqual(["M a.txt", "D d/b", "D e/x", "A e/y", "A link > symlink", "A n/m/f"]);
  });
});
