import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { sha256Of } from "../../base/digest.js";
import { silentLog } from "../../base/log.js";
import { SessionDirectories } from "./session-directories.js";
import { SessionIndex } from "./session-index.js";
import { header, linesOf, userEntry } from "./store.test-kit.js";

function setUp(chosen?: string) {
  const home = temporaryDirectory();
  const cwd = join(home, "app");
  const directory = chosen === undefined ? undefined : join(home, chosen);
  const places = new SessionDirectories({ cwd, agentDir: join(home, "agent"), home, directory }, silentLog);
  const put = (path: string, id: string, sessionCwd = cwd) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), linesOf({ ...header, id, cwd: sessionCwd }, userEntry("u", null)));
  };
  const index = new SessionIndex();
  const idsOf = async (listing: Promise<readonly { id: string }[]>) => (await listing).map(({ id }) => id).sort();
  return { home, places, put, index, idsOf, find: (query: string) => places.find(index, query) };
}

it("a directory that was chosen holds the sessions of several projects, and each is told whose it is", async () => {
  const { put, find, places, index, idsOf } = setUp("chosen");
  put("chosen/a.jsonl", "aaa");
  put("chosen/b.jsonl", "bbb", "/other");
  expect(await find("aaa")).toMatchObject({ session: { id: "aaa" }, isElsewhere: false });
  expect(await find("bbb")).toMatchObject({ session: { cwd: "/other" }, isElsewhere: true });
  expect(await idsOf(places.listAll(index))).toEqual(["aaa", "bbb"]);
  expect(await idsOf(places.listHere(index))).toEqual(["aaa"]);
});

it("what lies in the usual place is found beside it, and only what was chosen is continued", async () => {
  const { home, put, find, places, index, idsOf } = setUp("chosen");
  const usual = new SessionDirectories({ cwd: join(home, "app"), agentDir: join(home, "agent"), home }, silentLog);
  put("chosen/a.jsonl", "aaa");
  put(join(usual.directory, "c.jsonl").slice(home.length), "ccc");
  expect(await find("ccc")).toMatchObject({ isElsewhere: false });
  expect(await idsOf(places.listHere(index))).toEqual(["aaa", "ccc"]);
  expect(await idsOf(places.list(index))).toEqual(["aaa"]);
});

it("sessions of compatible programs come along, with their images", async () => {
  const { home, put, find, places, index, idsOf } = setUp();
  put(".pi/agent/sessions/-app/a.jsonl", "aaa");
  put(".omp/agent/sessions/--elsewhere--/b.jsonl", "bbb", "/elsewhere");
  expect(await find("aaa")).toMatchObject({ isElsewhere: false });
  expect(await find("bbb")).toMatchObject({ isElsewhere: true });
  expect(await idsOf(places.listHere(index))).toEqual(["aaa"]);
  expect(await idsOf(places.listAll(index))).toEqual(["aaa", "bbb"]);
  expect(await places.list(index)).toEqual([]);
  const image = Buffer.from("bytes of an image");
  mkdirSync(join(home, ".omp/agent/blobs"));
  writeFileSync(join(home, ".omp/agent/blobs", sha256Of(image)), image);
  const path = join(home, ".omp/agent/sessions/--elsewhere--/b.jsonl");
  expect(await places.blobs(path).get(`blob:sha256:${sha256Of(image)}`)).toEqual(image);
});

it("an unreadable directory is an error only where new sessions are created", async () => {
  const { home, put, find } = setUp("chosen");
  put("chosen/a.jsonl", "aaa");
  for (const agent of [".pi/agent", "agent"]) {
    mkdirSync(join(home, agent), { recursive: true });
    symlinkSync("sessions", join(home, agent, "sessions")); // it leads to itself
  }
  expect(await find("aaa")).toMatchObject({ isElsewhere: false });
  await expect(find("nope")).rejects.toThrow('Session "nope" not found.');
  const usual = new SessionDirectories({ cwd: join(home, "app"), agentDir: join(home, "agent"), home }, silentLog);
  await expect(usual.find(new SessionIndex(), "nope")).rejects.toThrow("ELOOP");
});

it("the project is the repository around the directory, without the projects below it", async () => {
  const { home, put, places, index, idsOf } = setUp();
  for (const path of ["app/.git", "app/src", "app/vendor/.git", "application"])
    mkdirSync(join(home, path), { recursive: true });
  const at = (path: string) =>
    new SessionDirectories({ cwd: join(home, path), agentDir: join(home, "agent"), home }, silentLog);
  for (const [path, id] of [
    ["app", "aaa"],
    ["app/src", "bbb"],
    ["app/vendor", "ccc"],
    ["application", "ddd"],
  ] as const)
    put(join(at(path).directory, `${id}.jsonl`).slice(home.length), id, join(home, path));
  put(".pi/agent/sessions/-app-src/e.jsonl", "eee", join(home, "app/src"));
  for (const here of [places, at("app/src")]) {
    expect(await idsOf(here.listProject(index))).toEqual(["aaa", "bbb", "eee"]);
    expect(await idsOf(here.list(index))).toEqual(["aaa", "bbb"]);
    expect(await here.find(index, "bbb")).toMatchObject({ isElsewhere: false });
    expect(await here.find(index, "ccc")).toMatchObject({ isElsewhere: true });
  }
  expect(await idsOf(at("app/src").listHere(index))).toEqual(["bbb", "eee"]);
  expect(await idsOf(at("app/vendor").listProject(index))).toEqual(["ccc"]);
});
