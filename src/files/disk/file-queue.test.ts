import { expect, it } from "vitest";
import { FileQueue } from "./file-queue.js";

/** Works that end when told, and a record of what began and ended. */
function stage() {
  const queue = new FileQueue();
  const story: string[] = [];
  const start = (name: string, file: { path: string; identity?: string }) => {
    let end = () => {};
    const gate = new Promise<void>((resolve) => {
      end = resolve;
    });
    const running = queue.run(file, async () => {
      story.push(`${name} begins`);
      await gate;
      story.push(`${name} ends`);
      return name;
    });
    return { running, end };
  };
  return { start, story };
}

const settled = () => new Promise(setImmediate);

it("lets one work at a time on a file, in the order of asking, and others go on", async () => {
  const { start, story } = stage();
  const first = start("first", { path: "/p/a", identity: "1" });
  const second = start("second", { path: "/p/a", identity: "1" });
  const other = start("other", { path: "/p/b", identity: "2" });
  await settled();
  expect(story).toEqual(["first begins", "other begins"]);
  second.end();
  first.end();
  expect(await Promise.all([first.running, second.running])).toEqual(["first", "second"]);
  expect(story).toEqual(["first begins", "other begins", "first ends", "second begins", "second ends"]);
  other.end();
  await other.running;
});

it.each([
  ["another name of the same file", { path: "/p/hard", identity: "1" }],
  ["another spelling of the same place", { path: "/P/A" }],
  ["the file that replaced it", { path: "/p/a", identity: "9" }],
])("waits: %s", async (_case, file) => {
  const { start, story } = stage();
  const first = start("first", { path: "/p/a", identity: "1" });
  const second = start("second", file);
  second.end();
  await settled();
  expect(story).toEqual(["first begins"]);
  first.end();
  await second.running;
  expect(story.at(-1)).toBe("second ends");
});

it("goes on after a failure", async () => {
  const queue = new FileQueue();
  const failing = queue.run({ path: "/p/a" }, () => Promise.reject(new Error("no")));
  const next = queue.run({ path: "/p/a" }, async () => "yes");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("yes");
});
