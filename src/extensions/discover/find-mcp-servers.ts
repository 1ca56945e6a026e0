// The MCP servers that a project's files name: read as data, to be shown to the user and for the digest. Nothing is
// started and no address is contacted.

import { join } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { readModuleFile } from "../../files/module-files.js";
import { parseObject } from "../trust/find-import-targets.js";

export interface McpServer {
  readonly file: string;
  readonly name: string;
  /** The program and its arguments, for a server that is started. */
  readonly argv?: readonly string[];
  /** Everything that the file says about it. */
  readonly entry: unknown;
}

const maxBytes = 1024 * 1024;
const maxServers = 256;

/** `directories`: of the project, nearest first. `configDirectories`: `.galley` and its like in them. */
export function findMcpServers(place: {
  readonly directories: readonly string[];
  readonly configDirectories: readonly string[];
}) {
  const files = [
    ...place.directories.map((directory) => join(directory, ".mcp.json")),
    ...place.configDirectories.map((directory) => join(directory, "mcp.json")),
  ];
  const servers: McpServer[] = [];
  const problems: { path: string; error: string }[] = [];
  for (const file of files) {
    try {
      servers.push(...serversIn(file));
    } catch (error) {
      if (!(error instanceof GalleyError)) throw error;
      if (error.code !== "not_found") problems.push({ path: file, error: messageOf(error) });
    }
  }
  return { servers, problems };
}

function serversIn(file: string): McpServer[] {
  const value = parseObject(Buffer.from(readModuleFile(file, maxBytes).bytes).toString("utf8"));
  if (!value) throw new GalleyError("invalid_config", "is not a JSON object");
  const entries = Object.entries(isObject(value.mcpServers) ? value.mcpServers : {});
  if (entries.length > maxServers) throw new GalleyError("invalid_config", `names more than ${maxServers} servers`);
  return entries.map(([name, entry]) => ({ file, name, entry, ...(isObject(entry) ? commandOf(entry) : {}) }));
}

function commandOf({ command, args }: JsonObject): { argv?: string[] } {
  if (typeof command !== "string") return {};
  return {
    argv: [
      command,
      ...(Array.isArray(args) ? args.map((value) => (typeof value === "string" ? value : JSON.stringify(value))) : []),
    ],
  };
}
