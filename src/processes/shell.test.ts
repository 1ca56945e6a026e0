import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { findProgram, findShell, limitedShell } from "./shell.js";

const root = temporaryDirectory();
const project = join(root, "project");
const outside = join(root, "outside");
for (const place of [project, outside]) {
  mkdirSync(place);
  writeFileSync(join(place, "tool"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(place, "bash"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(place, "text"), "x", { mode: 0o644 });
  mkdirSync(join(place, "folder"));
}
symlinkSync(project, join(root, "link"));

it("takes the first program from an absolute place outside the project", () => {
  const find = (name: string, ...places: string[]) =>
    findProgram(name, { path: places.join(":"), projectRoot: project });
  expect(find("tool", project, outside)).toBe(join(outside, "tool"));
  expect(find("tool", project)).toBeUndefined();
  expect(find("tool", join(root, "link"))).toBeUndefined();
  expect(find("tool", "", ".", "../outside")).toBeUndefined();
  expect(find("../outside/tool", outside)).toBeUndefined();
  expect(find("text", outside)).toBeUndefined();
  expect(find("folder", outside)).toBeUndefined();
  expect(findProgram("tool", { path: undefined, projectRoot: undefined })).toBeUndefined();
});

it("takes the system's bash before any other, wherever the project is", () => {
  for (const projectRoot of [undefined, project, "/"]) {
    const shell = findShell({ path: `${project}:${outside}`, projectRoot });
    expect(["/bin/bash", "/usr/bin/bash"]).toContain(shell);
  }
});

it("C-7: hands over the line as an argument, after the limits", () => {
  const { file, args } = limitedShell("/bin/bash", `"; rm -rf '$x`, false);
  expect(file).toBe("/bin/sh");
  expect(args[1]).toMatch(
    /^\{ ulimit -c 0; ulimit -n 4096; ulimit -u (\d+) \|\| ulimit -p \1; \} 2>\/dev\/null; exec "\$0" -c "\$1" "\$2"$/,
  );
  expect([args[0], ...args.slice(2)]).toEqual(["-c", "/bin/bash", `"; rm -rf '$x`, "bash"]);
});
