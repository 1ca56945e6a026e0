import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { findProgram, findShell, limitedShell } from "./process-shell.js";

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

it("has a script for a shell that waits, where it may be read: one group, the line one word of it", () => {
  const { args, script } = limitedShell("/bin/bash", `it's; }\n{`, true);
  const limits = args[1]?.split("; exec")[0];
  expect(script).toBe(`{ ${limits}; exec '/bin/bash' -c 'it'\\''s; }\n{' 'bash' </dev/null 2>&1; }\n`);
  expect(limitedShell("/bin/bash", "true", false).script).toBeUndefined();
  expect(limitedShell("/bin/bash", "a\0b", true).script).toBeUndefined();
  expect(limitedShell("/bin/bash", "x".repeat(5000), true).script).toBeUndefined();
});

it("runs nothing of a script that ends early", () => {
  const { script = "" } = limitedShell("/bin/bash", "echo 'a'b'c'; echo d", true);
  const say = (text: string) => spawnSync("/bin/sh", ["-s"], { input: text, encoding: "utf8" }).stdout;
  expect(say(script)).toBe("abc\nd\n");
  const cuts = Array.from({ length: script.length - script.indexOf("exec") - 2 }, (_, cut) =>
    script.slice(0, -2 - cut),
  );
  expect(cuts.map(say).join("")).toBe("");
});
