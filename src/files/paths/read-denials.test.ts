import { describe, expect, it } from "vitest";
import { denialOf, isPrivateKey } from "./read-denials.js";

const policy = {
  cwds: ["/home/me/project"],
  home: "/home/me",
  credentialFiles: ["/home/me/.galley/agent/auth.json"],
};
const key = "it is a private key";
const memory = "it shows the environment or the memory of a process";
const home = "it lies in another user's home";

describe("denialOf", () => {
  it.each([
    ["/home/me/.galley/agent/auth.json", "it holds credentials"],
    ["/home/me/.GALLEY/agent/AUTH.json", "it holds credentials"],
    ["/home/me/project/auth.json", undefined],
    ["/home/me/.ssh/id_ed25519", key],
    ["/home/me/.ssh/ID_RSA", key],
    ["/home/me/.ssh/id_ed25519_sk", key],
    ["/home/me/.ssh/id_ed25519.pub", undefined],
    ["/etc/ssh/ssh_host_rsa_key", key],
    ["/home/me/putty.ppk", key],
    ["/home/me/.gnupg/private-keys-v1.d/AB.key", key],
    ["/home/me/project/src/key.ts", undefined],
    ["/proc/self/environ", memory],
    ["/proc/1/mem", memory],
    ["/proc/1/task/2/environ", memory],
    ["/proc/1/map_files/0-1", memory],
    ["/proc/kcore", memory],
    ["/proc/cpuinfo", undefined],
    ["/proc/1/status", undefined],
    ["/home/me/project/environ", undefined],
    ["/home/other/x", home],
    ["/home/other", home],
    ["/HOME/other/x", home],
    ["/home/Me/x", home],
    ["/home", undefined],
    ["/Users/other/x", home],
    ["/Users/Shared/x", undefined],
    ["/root/x", home],
    ["/rooted/x", undefined],
    ["/home/me/x", undefined],
    ["/tmp/home/x", undefined],
  ])("%s: %s", (path, reason) => {
    expect(denialOf(path, policy)).toBe(reason);
  });

  it("allows a session in another user's home, in its own directory only", () => {
    const asRoot = { ...policy, home: "/root", cwds: ["/home/node/app"] };
    expect(denialOf("/home/node/app/src/a.ts", asRoot)).toBeUndefined();
    expect(denialOf("/home/node/.bashrc", asRoot)).toBe(home);
    expect(denialOf("/root/x", asRoot)).toBeUndefined();
    expect(denialOf("/home/node/x", { ...asRoot, cwds: ["/home"] })).toBe(home);
  });

  it("knows homes that live elsewhere", () => {
    const solaris = { ...policy, home: "/export/home/me" };
    expect(denialOf("/export/home/you/x", solaris)).toBe(home);
    expect(denialOf("/export/home/me/x", solaris)).toBeUndefined();
    const inRoots = { ...policy, home: "/root/box/home/me" };
    expect(denialOf("/root/box/home/you/x", inRoots)).toBe(home);
    expect(denialOf("/root/box/home/me/x", inRoots)).toBeUndefined();
  });
});

it.each([
  ["-----BEGIN PRIVATE KEY-----\n", true],
  ["\ufeff\n-----BEGIN RSA PRIVATE KEY-----\n", true],
  ["-----BEGIN PGP PRIVATE KEY BLOCK-----", true],
  ["PuTTY-User-Key-File-3: ssh-rsa", true],
  ["-----BEGIN CERTIFICATE-----", false],
  ["const header = '-----BEGIN PRIVATE KEY-----';", false],
  ["", false],
])("sees a private key in %j: %s", (text, expected) => {
  expect(isPrivateKey(new TextEncoder().encode(text))).toBe(expected);
});
