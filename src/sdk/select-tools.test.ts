import { expect, it } from "vitest";
import { settingKeys } from "../config/settings/schema.js";
import type { Settings } from "../config/settings/settings.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { createBuiltInTools } from "../tools/index.js";
import { toolDeps } from "../tools/tools.test-kit.js";
import { selectTools } from "./select-tools.js";

const builtIn = createBuiltInTools(toolDeps(createMemoryWorkspace({})));

it("every built-in tool has a switch of its own", () => {
  const switches = settingKeys.filter((key) => key.endsWith(".enabled"));
  const leftOut = (off: string) => {
    const settings = { get: (key: string) => key !== off } as unknown as Settings; // all that is asked of it
    const chosen = selectTools(builtIn, settings, undefined);
    return builtIn.filter((tool) => !chosen.includes(tool)).map(({ name }) => name);
  };
  expect(switches.flatMap(leftOut).toSorted()).toEqual(builtIn.map(({ name }) => name).toSorted());
});
