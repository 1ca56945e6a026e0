// The layer table, as data. A folder may import itself and the folders listed for it; every import points to a
// line above its own. `folder*` means only that folder's contract file. scripts/check-layers.mjs reads this.

export const layers = {
  base: [],
  protocol: ["base"],
  workspace: ["base"],
  provider: ["base", "protocol"],
  preview: ["base", "protocol"],
  tools: ["base", "protocol", "workspace", "preview"],
  loop: ["base", "protocol", "provider*", "tools*"],
  session: ["base", "protocol", "workspace", "preview", "provider*", "tools*", "loop"],
  extend: ["base", "protocol", "workspace", "preview", "tools*", "session"],
  html: ["base", "protocol", "session"],
  sdk: ["base", "protocol", "workspace", "provider", "preview", "tools", "loop", "session", "extend", "html"],
  rpc: ["base", "protocol", "tools*", "sdk"],
  client: ["base", "protocol"],
  tui: ["base", "protocol", "sdk"],
  testing: ["base", "protocol", "workspace", "provider", "sdk"],
  cli: ["base", "protocol", "sdk", "rpc", "tui", "html"],
};

/** What `folder*` may reach. */
export const contracts = { provider: "provider/provider.ts", tools: "tools/tool.ts" };

/** Only what begins like this may touch the disk or start a process (`session/store` is store.ts and its store-*.ts). */
export const hands = {
  modules: ["node:fs", "node:fs/promises", "node:child_process", "fs", "fs/promises", "child_process"],
  allowed: [
    "workspace/",
    "session/store",
    "extend/load.ts",
    "html/write.ts",
    "cli/",
    "client/spawn.ts",
    "base/socket-file-lock.ts",
  ],
};
