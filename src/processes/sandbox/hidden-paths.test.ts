import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import type { BoxRules } from "./box.js";
import { boxEnvironment } from "./box-environment.js";
import { findHidden, findMachinePlaces, type MachinePlaces } from "./hidden-paths.js";
import { socketPaths } from "./unix-sockets.js";

const nothing: MachinePlaces = { temporary: [], hidden: [], shown: [], homes: [] };

function rulesIn(base: string, changed: Partial<BoxRules> = {}): BoxRules {
  return {
    ...{ mode: "workspace", roots: [base], home: join(base, "home"), agentDir: join(base, "agent"), tempDir: base },
    ...{ hide: [], show: [], unixSockets: "own", network: "off", ...changed },
  };
}

test("what exists of the list is hidden, links by what they lead to", () => {
  const base = temporaryDirectory();
  for (const name of ["home/.ssh", "home/.config/gh", "real-aws", "agent"])
    mkdirSync(join(base, name), { recursive: true });
  for (const name of ["home/.netrc", "notes", "home/.bashrc"]) writeFileSync(join(base, name), "");
  symlinkSync(join(base, "real-aws"), join(base, "home/.aws"));
  symlinkSync("nowhere", join(base, "home/.kube"));
  const hide = [join(base, "notes"), join(base, "missing")];
  expect(
    findHidden(rulesIn(base, { hide }), nothing).map(({ path, type }) => `${path.slice(base.length)} ${type}`),
  ).toEqual([
    "/home/.ssh directory",
    "/real-aws directory",
    "/home/.netrc file",
    "/home/.config/gh directory",
    "/agent directory",
    "/notes file",
  ]);
});

const isRoot = process.getuid?.() === 0;
test.skipIf(isRoot)(`what another user has shut needs no cover${isRoot ? " (skipped: root may enter it)" : ""}`, () => {
  const base = temporaryDirectory();
  mkdirSync(join(base, "own"), { mode: 0 });
  const hidden = (hide: string) => findHidden(rulesIn(base, { hide: [hide] }), nothing);
  expect(hidden("/proc/1/root/x")).toEqual([]);
  expect(() => hidden(join(base, "own/x"))).toThrow("EACCES"); // a command could open it
});

test("bash.show takes from the list", () => {
  const base = temporaryDirectory();
  for (const name of ["home/.ssh", "home/.aws"]) mkdirSync(join(base, name), { recursive: true });
  const show = [join(base, "home/.aws")];
  expect(findHidden(rulesIn(base, { show }), nothing).map(({ path }) => path)).toEqual([join(base, "home/.ssh")]);
});

test("the machine: run directories, other homes and shared temporary directories, and never the own home", () => {
  const home = temporaryDirectory();
  const runtime = temporaryDirectory();
  const found = findMachinePlaces({ HOME: home, XDG_RUNTIME_DIR: runtime });
  expect(found.homes).toContain(home);
  expect(found.hidden).toContain(runtime);
  expect(found.hidden).not.toContain(home);
  expect(found.temporary).toContain("/tmp");
  for (const path of ["/", "/usr", "/var", "/etc"]) expect(found.hidden).not.toContain(path);
});

test("sockets are found in the kernel's table, abstract ones and those without a name left out", () => {
  const table = `Num       RefCount Protocol Flags    Type St Inode Path
0000000017f7f069: 00000002 00000000 00010000 0001 01 411631 /tmp/a b/sock
00000000c1a53bf1: 00000003 00000000 00000000 0001 03 630924
0000000000000000: 00000002 00000000 00010000 0001 01    12 @abstract
0000000000000001: 00000002 00000000 00010000 0001 01    13 relative.sock
`;
  expect(socketPaths(table)).toEqual(["/tmp/a b/sock", "relative.sock"]);
});

test("the environment leads to nothing outside, and to the session's temporary directory", () => {
  const env = {
    PATH: "/bin",
    SSH_AUTH_SOCK: "x",
    DOCKER_HOST: "x",
    DBUS_X: "x",
    DISPLAY: "x",
    TMPDIR: "/tmp",
    KEPT: "1",
  };
  expect(boxEnvironment(env, { tempDir: "/t", gate: { http_proxy: "p" } })).toEqual({
    ...{ PATH: "/bin", KEPT: "1", http_proxy: "p", TMPDIR: "/t", TMP: "/t", TEMP: "/t" },
  });
});
