// What one extension registered. Kept apart by extension, so that an extension that fails to load leaves nothing behind
// and the order of loading decides who comes first, whichever was ready first.

import type { JsonObject } from "../../base/json.js";
import type { ToolSchema } from "../load/schema-json.js";
import type { FlagDefinition, ShortcutDefinition, ToolDefinition } from "./extension.js";
import type { RegisteredCommand } from "./extension-commands.js";
import type { ExtensionOrigin } from "./extension-origin.js";

export type AnyHandler = (event: unknown, ctx: unknown) => unknown;

export interface RegisteredHandler {
  /** As it was asked for: the event carries the same name. */
  readonly name: string;
  readonly handler: AnyHandler;
}

export interface RegisteredTool {
  readonly definition: ToolDefinition;
  readonly schema: ToolSchema;
}

export interface RegisteredShortcut {
  readonly definition: ShortcutDefinition;
}

export class ExtensionRegistrations {
  readonly origin: ExtensionOrigin;
  /** By the name under which the event is told. */
  readonly handlers = new Map<string, RegisteredHandler[]>();
  readonly tools = new Map<string, RegisteredTool>();
  readonly commands = new Map<string, RegisteredCommand>();
  readonly flags = new Map<string, FlagDefinition>();
  /** By the key in lower case. */
  readonly shortcuts = new Map<string, RegisteredShortcut>();
  readonly messageRenderers = new Map<string, unknown>();
  /** By name, as they were given. */
  readonly providers = new Map<string, JsonObject>();
  thinkingRenderer: unknown;
  /** What its factory returned: nothing, unless the module was made for something else. */
  returned: unknown;
  /** The label it gave itself. */
  label: string | undefined;
  /** It failed to load, or the session is over: what it left behind does nothing. */
  isGone = false;

  constructor(origin: ExtensionOrigin) {
    this.origin = origin;
  }
}
