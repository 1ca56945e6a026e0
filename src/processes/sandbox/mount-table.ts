// The mounts of a namespace, as the kernel tells them: which of them are visible, and the flags that a remount must keep.

export interface Mount {
  readonly path: string;
  /** Of this mount point, not of the file system behind it. */
  readonly options: readonly string[];
}

interface Row extends Mount {
  readonly id: string;
  readonly parent: string;
}

/** What the system refuses to drop from a mount that came from outside. It keeps the handling of access times itself. */
const keptOptions = new Set(["nosuid", "nodev", "noexec", "nosymfollow"]);

/** `table` is the text of `mountinfo`. A mount below another one that covers it is left out: no path leads there. */
export function visibleMounts(table: string): Mount[] {
  const rows = table.split("\n").flatMap(parseRow);
  const top = rows.find(
    ({ id, parent, path }) => path === "/" && (parent === id || !rows.some((row) => row.id === parent)),
  );
  if (top === undefined) return [];
  return rows.filter((row) => mountAt(row.path, top, rows) === row).map(({ path, options }) => ({ path, options }));
}

/** Of all, also those that no path leads to. */
export function mountPaths(table: string): string[] {
  return table.split("\n").flatMap((line) => parseRow(line).map(({ path }) => path));
}

/** For `mount -o …`: read-only, and otherwise as it is. */
export function readOnlyOptions(mount: Mount, how: "remount,bind" | "rbind"): string {
  return [how, "ro", ...mount.options.filter((option) => keptOptions.has(option))].join(",");
}

/** A path as the table writes it. */
export function escaped(path: string): string {
  return path.replace(/[ \t\n\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

function parseRow(line: string): Row[] {
  const [id, parent, , , path, options] = line.split(" ");
  if (id === undefined || parent === undefined || path === undefined || options === undefined) return [];
  return [{ id, parent, path: unescaped(path), options: options.split(",") }];
}

function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** What the system finds on the way to a path: at each name the newest mount on it. */
function mountAt(path: string, top: Row, rows: readonly Row[]): Row {
  let current = top;
  const names = path === "/" ? [""] : path.split("/");
  for (let length = 1; length <= names.length; length++) {
    const prefix = names.slice(0, length).join("/") || "/";
    for (;;) {
      const next = rows.findLast((row) => row !== current && row.parent === current.id && row.path === prefix);
      if (next === undefined) break;
      current = next;
    }
  }
  return current;
}
