import { spawnSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { makeOwnedDirectory, ownerText, removeLeftDirectories } from "./owned-directories.js";

let top: string;
beforeEach(() => {
  top = temporaryDirectory();
  vi.stubEnv("TMPDIR", top);
});
afterEach(() => vi.unstubAllEnvs());

/** Of this process: number, start time, namespace. */
function ownOwner(): [number, number, number] {
  const [, , ...owner] = basename(makeOwnedDirectory("tmp")).split("-").slice(0, 5);
  return owner.map((text) => Number.parseInt(text, 36)) as [number, number, number];
}

function plant(owner: string, { kind = "tmp", mode = 0o700 } = {}): string {
  const name = `galley-${kind}-${owner}-AbCd12`;
  mkdirSync(join(top, name, "below"), { recursive: true });
  writeFileSync(join(top, name, "below/file"), "x");
  chmodSync(join(top, name, "below"), 0o000);
  chmodSync(join(top, name), mode);
  return name;
}

/** A process that has ended. */
const gone = () => spawnSync("true").pid;

describe("directories that name their process", () => {
  it("are private, and their process's", () => {
    const path = makeOwnedDirectory("tmp");
    expect(dirname(path)).toBe(top);
    expect(lstatSync(path).mode & 0o7777).toBe(0o700);
    expect(ownOwner()[0]).toBe(process.pid);
  });

  it("are removed once that process is gone, also if its number is another one's now", async () => {
    const [pid, startTime, namespace] = ownOwner();
    const mine = readdirSync(top);
    plant(ownerText(gone(), startTime, namespace));
    if (startTime > 0) plant(ownerText(pid, startTime - 1, namespace));
    const probe = plant(ownerText(gone(), startTime, namespace), { kind: "probe" });
    await removeLeftDirectories("tmp");
    expect(readdirSync(top).sort()).toEqual([...mine, probe].sort());
    await removeLeftDirectories("probe");
    expect(readdirSync(top)).toEqual(mine);
  });

  it("stay while it runs, in another namespace of processes, and where they may be another's", async () => {
    const [pid, startTime, namespace] = ownOwner();
    const owner = ownerText(gone(), startTime, namespace);
    const elsewhere = join(top, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "kept"), "x");
    symlinkSync(elsewhere, join(top, `galley-tmp-${owner}-LiNk12`));
    writeFileSync(join(top, `galley-tmp-${owner}-FiLe12`), "x");
    plant(ownerText(pid, startTime, namespace));
    plant(ownerText(gone(), startTime, namespace + 1));
    plant(ownerText(gone(), startTime + 1, namespace), { mode: 0o755 });
    for (const name of ["galley-tmp-AbCd12", "galley-tmp-..-1-1-AbCd12", `galley-tmp-${owner}-AbCd12-more`])
      mkdirSync(join(top, name), { mode: 0o700 });
    const before = readdirSync(top);
    await removeLeftDirectories("tmp");
    expect(readdirSync(top)).toEqual(before);
    expect(readdirSync(elsewhere)).toEqual(["kept"]);
  });

  it("say nothing where there is no directory for temporary files", async () => {
    vi.stubEnv("TMPDIR", join(top, "nowhere"));
    await expect(removeLeftDirectories("tmp")).resolves.toBeUndefined();
  });
});
