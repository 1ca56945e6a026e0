import { expect, test } from "vitest";
import { escaped, readOnlyOptions, visibleMounts } from "./mount-table.js";

const table = `22 27 0:21 / /proc rw,relatime - proc proc rw
24 27 0:6 / /dev rw,nosuid,noexec - devtmpfs devtmpfs rw
25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 25 0:27 / /dev/shm ro - tmpfs tmpfs rw
40 27 0:30 / /mnt/a\\040b rw,nodev shared:3 master:1 - tmpfs tmpfs rw
41 27 0:31 / /mnt rw - tmpfs tmpfs rw
`;

test("a mount counts if a path leads to it", () => {
  expect(visibleMounts(table).map(({ path, options }) => `${path} ${options[0]}`)).toEqual([
    "/proc rw",
    "/dev rw",
    "/ rw",
    "/dev/shm ro",
    "/mnt rw",
  ]);
});

test("names with spaces are read and written as the kernel does", () => {
  const [first] = visibleMounts(table.replace(/^41.*\n/m, "")).filter(({ path }) => path.startsWith("/mnt"));
  expect(first?.path).toBe("/mnt/a b");
  expect(escaped("/mnt/a b\n\\")).toBe("/mnt/a\\040b\\012\\134");
});

test("a remount keeps what the kernel insists on", () => {
  const dev = visibleMounts(table).find(({ path }) => path === "/dev");
  expect(dev && readOnlyOptions(dev, "remount,bind")).toBe("remount,bind,ro,nosuid,noexec");
});
