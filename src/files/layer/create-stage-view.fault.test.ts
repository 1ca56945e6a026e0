// A killed galley with a staged view, in short. `npm run fault:sandbox` runs the same with larger numbers.

import { describe, expect, it } from "vitest";
import { buildLayerModule } from "../../../bench/kit-layer/build.mjs";
import { runViewKills } from "../../../bench/kit-layer/kills.mjs";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { noViews, viewTitle } from "./layer.test-kit.js";

describe.skipIf(noViews !== undefined)(`a killed galley with a staged view${viewTitle}`, () => {
  it("V-13: leaves the project as it was, and nothing else after the next start", async () => {
    const directory = temporaryDirectory();
    const module = await buildLayerModule(directory);
    const { kills, ...rest } = await runViewKills({ module, directory, count: 12, seed: 1 });
    expect(rest).toMatchObject({ torn: 0, survivors: 0, mountsLeft: 0, layersLeft: 0, otherwise: 0, problems: [] });
    expect(kills).toBeGreaterThan(6);
  }, 120_000);
});
