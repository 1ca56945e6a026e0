// The layer table, as data. A folder may import itself and the folders listed for it; every import points to a
// line above its own. `folder*` means only that folder's contract file. scripts/check-layers.mjs reads this.

export const layers = {
  base: [],
  protocol: ["base"],
  render: ["base", "protocol"],
  files: ["base"],
  processes: ["base", "files"],
  provider: ["base", "protocol"],
  plans: ["base", "protocol", "files"],
  journal: ["base", "protocol", "files", "plans"],
  tools: ["base", "protocol", "files", "processes", "plans"],
  loop: ["base", "protocol", "provider*", "tools*"],
  record: ["base", "protocol", "files", "provider*", "tools*"],
  pending: ["base", "protocol", "plans", "provider*", "loop", "record"],
  session: ["base", "protocol", "files", "plans", "provider*", "tools*", "loop", "record", "pending"],
  extensions: ["base", "protocol", "files", "processes", "plans", "tools*", "record", "pending", "session"],
  config: ["base", "protocol", "files", "processes", "provider", "tools", "session", "extensions"],
  html: ["base", "protocol", "render", "files", "record", "pending"],
  sdk: [
    "base",
    "protocol",
    "render",
    "files",
    "processes",
    "provider",
    "plans",
    "journal",
    "tools",
    "loop",
    "record",
    "pending",
    "session",
    "extensions",
    "config",
    "html",
  ],
  rpc: ["base", "protocol", "tools*", "sdk"],
  client: ["base", "protocol"],
  tui: ["base", "protocol", "render", "sdk"],
  testing: ["base", "protocol", "files", "processes", "provider", "journal", "config", "sdk"],
  cli: ["base", "protocol", "config", "sdk", "rpc", "html", "tui"],
};

/** What `folder*` may reach. */
export const contracts = { provider: "provider/provider.ts", tools: "tools/tool.ts" };

/** Only what begins like this may touch the disk or start a process. */
export const ioAllowedIn = {
  modules: ["node:fs", "node:fs/promises", "node:child_process", "fs", "fs/promises", "child_process"],
  places: [
    "files/",
    "processes/",
    "journal/",
    "record/store/",
    "extensions/load/load.ts",
    "html/write-page.ts",
    "cli/",
    "client/spawn.ts",
    "base/socket-file-lock.ts",
  ],
};

/** Libraries that only these folders may import. */
export const librariesOf = { "@earendil-works/pi-tui": ["tui/", "extensions/"] };
