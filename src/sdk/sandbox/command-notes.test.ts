import { describe, expect, it } from "vitest";
import { confinedNotes } from "./command-notes.js";

const onDisk = { mayEscalate: true, mode: "workspace" } as const;
const end = (printed: string, exitCode = 1) => ({ exitCode, printed });

describe("what is told of a confined command", () => {
  it("names what was taken away and what was blocked", () => {
    const blocked = [
      { host: "registry.example:443", times: 2 },
      { host: "a.example:80", times: 1 },
    ];
    expect(confinedNotes({ ...end("", 0), report: { removed: [".envrc"], blocked } }, onDisk)).toEqual([
      "Removed .envrc: protected path.",
      "Network: blocked registry.example:443 (2 times).",
      "Network: blocked a.example:80 (1 time).",
    ]);
  });

  it.each([
    ["touch: cannot touch '/etc/x': Read-only file system", "only the project can be written", "workspace.roots"],
    ["Error: listen EPERM: operation not permitted /tmp/tsx-0/14.pipe", "sockets are limited", "bash.unixSockets"],
    ["curl: (6) Could not resolve host: registry.npmjs.org", "there is no network", "bash.network"],
    ["npm ERR! getaddrinfo EAI_AGAIN registry.npmjs.org", "there is no network", "bash.network"],
  ])("%s: the sandbox may be the cause", (printed, what, key) => {
    expect(confinedNotes(end(printed), onDisk)).toEqual([
      `The sandbox may be the cause: ${what}. Ask with escalate, or the user can set ${key}.`,
    ]);
    expect(confinedNotes(end(printed), { mayEscalate: false, mode: "workspace" })).toEqual([
      `The sandbox may be the cause: ${what}. The user can set ${key}.`,
    ]);
    expect(confinedNotes(end(printed, 0), onDisk)).toEqual([]);
  });

  it("does not name roots where nothing can be written", () => {
    expect(confinedNotes(end("sh: a: Read-only file system"), { mayEscalate: false, mode: "read-only" })).toEqual([
      "The sandbox may be the cause: only temporary files can be written. The user can set access.",
    ]);
  });

  it("names the list of hosts where one was blocked, and says nothing of other failures", () => {
    const report = { removed: [], blocked: [{ host: "a.example:443", times: 1 }] };
    expect(confinedNotes({ ...end("HTTP 403"), report }, onDisk).at(-1)).toBe(
      "The sandbox may be the cause: a host is not allowed. Ask with escalate, or the user can set bash.hosts.",
    );
    expect(confinedNotes(end("2 tests failed"), onDisk)).toEqual([]);
  });
});
