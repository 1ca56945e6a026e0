import { expect, test } from "vitest";
import type { BoxRules } from "./box.js";
import { sandboxProfile } from "./sandbox-exec.js";

const rules: BoxRules = {
  mode: "workspace",
  roots: ['/p/with "quotes") (allow default'],
  home: "/Users/a",
  agentDir: "/Users/a/.galley/agent",
  tempDir: "/t",
  hide: [],
  show: [],
  unixSockets: "own",
  network: "off",
};
const places = { hidden: ["/Users/a/.ssh"], frozen: ["/p/.git/config"] };

test("paths are parameters and never part of the text", () => {
  const { profile, parameters } = sandboxProfile(rules, places);
  expect(profile).not.toMatch(/quotes|\/p\/|"\/t"|\.ssh/);
  expect(parameters).toEqual({
    WRITABLE_0: rules.roots[0],
    WRITABLE_1: "/t",
    VISIBLE_0: rules.roots[0],
    VISIBLE_1: "/t",
    FROZEN_0: "/p/.git/config",
    HIDDEN_0: "/Users/a/.ssh",
  });
});

test("the whole profile, in an order in which the later line wins", () => {
  expect(sandboxProfile(rules, places).profile).toBe(`(version 1)
(allow default)
(deny file-write*)
(allow file-write*
  (subpath (param "WRITABLE_0"))
  (subpath (param "WRITABLE_1"))
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/stdout")
  (literal "/dev/stderr")
  (literal "/dev/tty")
  (literal "/dev/dtracehelper"))
(deny file-write*
  (subpath (param "FROZEN_0")))
(deny file-read*
  (subpath (param "HIDDEN_0")))
(allow file-read*
  (subpath (param "VISIBLE_0"))
  (subpath (param "VISIBLE_1")))
(deny network*)
(allow network* (local unix-socket (subpath (param "WRITABLE_0"))))
(allow network-outbound (remote unix-socket (subpath (param "WRITABLE_0"))))
(allow network* (local unix-socket (subpath (param "WRITABLE_1"))))
(allow network-outbound (remote unix-socket (subpath (param "WRITABLE_1"))))
(deny process-info* (target others))
(deny mach-lookup
  (global-name "com.apple.pasteboard.1")
  (global-name "com.apple.pboard")
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.securityd.xpc")
  (global-name "com.apple.securityd.system")
  (global-name "com.apple.coreservices.launchservicesd")
  (global-name "com.apple.lsd.mapdb")
  (global-name "com.apple.lsd.modifydb")
  (global-name "com.apple.lsd.open")
  (global-name "com.apple.lsd.xpc"))
`);
});

test("the network: none, the proxy's port, or all of it; read-only has no writable root", () => {
  const gate = {
    env: { http_proxy: "http://127.0.0.1:3128" },
    listenScript: "",
    serve() {},
    blocked: () => [],
    close() {},
  };
  const network = (changed: Partial<BoxRules>) =>
    sandboxProfile({ ...rules, unixSockets: "none", ...changed }, places)
      .profile.split("\n")
      .filter((line) => line.includes("network"));
  expect(network({})).toEqual(["(deny network*)"]);
  expect(network({ network: "on" })).toEqual([]);
  expect(network({ network: gate })).toEqual([
    "(deny network*)",
    '(allow network* (local ip "localhost:3128"))',
    '(allow network-outbound (remote ip "localhost:3128"))',
  ]);
  const { parameters } = sandboxProfile({ ...rules, mode: "read-only" }, places);
  expect(parameters.WRITABLE_0).toBe("/t");
});
