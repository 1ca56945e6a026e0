import { expect, test } from "vitest";
import { type MountRequest, planMounts } from "./mount-plan.js";

const nothing: MountRequest = {
  privateDirectories: [],
  hidden: [],
  shown: [],
  writable: [],
  readOnly: [],
  pinned: [],
  stubs: [],
};

/** One line for each step. */
function plan(request: Partial<MountRequest>): string[] {
  return planMounts({ ...nothing, ...request }).map((step) => {
    const how = "isWritable" in step ? (step.isWritable ? " rw" : " ro") : step.kind === "cover" ? ` ${step.type}` : "";
    return `${step.kind}${how} ${step.path}`;
  });
}

const always = ["devices /dev", "processes /proc"];

test("parents come first, whatever the order of the lists", () => {
  const hidden = [{ path: "/home/a/.ssh", type: "directory" as const }];
  expect(plan({ writable: ["/home/a/project", "/home/a-b"], hidden, privateDirectories: ["/tmp"] })).toEqual([
    "devices /dev",
    "cover directory /home/a/.ssh",
    "bind rw /home/a/project",
    "bind rw /home/a-b",
    "processes /proc",
    "empty rw /tmp",
  ]);
});

test("a project in a private or hidden place is visible there; a hidden place around it can be mounted on", () => {
  const hidden = [{ path: "/home", type: "directory" as const }];
  expect(plan({ privateDirectories: ["/tmp"], hidden, shown: ["/home/a"], writable: ["/tmp/project"] })).toEqual([
    "devices /dev",
    "empty ro /home",
    "bind ro /home/a",
    "processes /proc",
    "empty rw /tmp",
    "bind rw /tmp/project",
  ]);
});

test("what a cover hides already is not covered again, and what is visible anyway is not mounted", () => {
  const hidden = [
    { path: "/run", type: "directory" as const },
    { path: "/run/user/1", type: "directory" as const },
  ];
  expect(plan({ hidden, shown: ["/home/a"], privateDirectories: ["/run/tmp"] })).toEqual([
    ...always,
    "cover directory /run",
  ]);
});

test("to hide wins over to write at the same path, and inside of it", () => {
  const hidden = ["/p/secret", "/q"].map((path) => ({ path, type: "file" as const }));
  expect(plan({ hidden, writable: ["/p", "/q"] })).toEqual([
    "devices /dev",
    "bind rw /p",
    "cover file /p/secret",
    "processes /proc",
    "cover file /q",
  ]);
});

test("protected paths are read-only, their parents cannot be renamed, and a stub is covered", () => {
  const pinned = ["/p/.git", "/c"];
  expect(plan({ writable: ["/p", "/c"], pinned, readOnly: ["/p/.git/config"], stubs: ["/p/.vscode"] })).toEqual([
    "bind rw /c",
    "devices /dev",
    "bind rw /p",
    "bind rw /p/.git",
    "bind ro /p/.git/config",
    "cover directory /p/.vscode",
    "processes /proc",
  ]);
});

test("the root of the file system is never hidden or writable", () => {
  expect(plan({ writable: ["/"], privateDirectories: ["/"], hidden: [{ path: "/", type: "directory" }] })).toEqual(
    always,
  );
});
