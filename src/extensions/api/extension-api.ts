// `pi`, as one extension sees it: what it registers goes to its own registrations, what it does goes to the session, which is
// not there yet while extensions load.

import { GalleyError, messageOf } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import { suggestion } from "../../base/nearest-name.js";
import { eventNames } from "../hooks/event-names.js";
import { hookAliases } from "../hooks/hooks.js";
import { checkTool } from "../load/load-factory.js";
import { runAsHost } from "../load/load-guard.js";
import { misspeltMembers } from "../load/tool-members.js";
import type { CustomToolAPI } from "./custom-tool.js";
import type { EventBus } from "./event-bus.js";
import type { ExtensionAPI, ExtensionHost } from "./extension.js";
import { problemOfCommand } from "./extension-commands.js";
import type { AnyHandler, ExtensionRegistrations } from "./extension-registrations.js";
import { sourceInfoOf } from "./source-info.js";

export interface ExtensionApiDeps {
  readonly extension: ExtensionRegistrations;
  /** The API that tools get as well. */
  readonly common: CustomToolAPI;
  readonly bus: EventBus;
  readonly log: Log;
  readonly builtInCommands: readonly string[];
  /** By name: what the command line said. */
  readonly flagValues: ReadonlyMap<string, boolean | string>;
  /** Throws before there is a session. */
  host(): ExtensionHost;
  /** Undefined before there is a session. */
  boundHost(): ExtensionHost | undefined;
  /** Runs a callback of the extension's outside of a hook; never throws. */
  guard(extension: ExtensionRegistrations, event: string, work: () => unknown): void;
  /** A message that an extension sent was refused. */
  onSendFailure(failure: SendFailure): void;
}

export interface SendFailure {
  readonly command: "extension_send" | "extension_send_user";
  readonly error: string;
}

/** Keys that belong to the terminal. */
const reservedKeys = new Set([
  ...["c", "d", "z", "k", "p", "l", "o", "t", "g"].map((key) => `ctrl+${key}`),
  ...["shift+tab", "shift+ctrl+p", "ctrl+shift+p", "alt+enter", "escape", "enter"],
]);

export function createExtensionApi(deps: ExtensionApiDeps): ExtensionAPI {
  const { common } = deps;
  return {
    cwd: common.cwd,
    exec: (command, args, options) => common.exec(command, args, options),
    logger: common.logger,
    get typebox() {
      return common.typebox;
    },
    get zod() {
      return common.zod;
    },
    get pi() {
      return common.pi;
    },
    ...registrations(deps),
    ...actions(deps),
  };
}

type Registrations = Pick<
  ExtensionAPI,
  "on" | "getFlag" | "events" | (`${"un" | ""}register${string}` & keyof ExtensionAPI)
>;

function registrations({ extension, bus, log, builtInCommands, flagValues, boundHost, guard }: ExtensionApiDeps) {
  const { path } = extension.origin;
  /** Later it may replace its own on purpose. */
  const warnOfSecond = (kind: string, known: ReadonlyMap<string, unknown>, name: string) => {
    if (known.has(name) && !boundHost()) log.warn(`${path} registers the ${kind} "${name}" twice; the last one counts`);
  };
  return {
    on(name: string, handler: unknown) {
      needFunction(`The handler of "${name}"`, handler);
      if (!eventNames.includes(name))
        log.warn(`${path}: there is no event "${name}", so its handler is never called${suggestion(name, eventNames)}`);
      const told = hookAliases.get(name) ?? name;
      const registered = { name, handler: handler as AnyHandler };
      const others = () => (extension.handlers.get(told) ?? []).filter((one) => one !== registered);
      extension.handlers.set(told, [...others(), registered]);
      return () => void extension.handlers.set(told, others());
    },
    registerTool(definition) {
      const { schema } = checkTool(definition, "registerTool was given an invalid tool");
      for (const { sentence } of misspeltMembers(definition)) log.warn(`${path}: ${sentence}`);
      warnOfSecond("tool", extension.tools, definition.name);
      extension.tools.set(definition.name, { definition, schema });
      runAsHost(() => boundHost()?.toolsChanged());
    },
    registerCommand(name, definition) {
      const problem = problemOfCommand(name, definition);
      if (problem !== undefined) return log.warn(`${path}: ${problem}`);
      if (builtInCommands.includes(name))
        return log.warn(`Extension command '${name}' from ${path} conflicts with built-in commands. Skipping.`);
      warnOfSecond("command", extension.commands, name);
      extension.commands.set(name, { name, definition, sourceInfo: sourceInfoOf(path, extension.origin.source) });
    },
    registerFlag(name, definition) {
      const { type, default: usual, description } = definition;
      if (!/^[a-z0-9][\w-]*$/i.test(name) || (type !== "boolean" && type !== "string"))
        throw new GalleyError("invalid_argument", `Flag ${JSON.stringify(name)} needs a name and a type`);
      if (usual !== undefined && typeof usual !== type)
        throw new GalleyError("invalid_argument", `The default of flag "${name}" is not a ${type}`);
      extension.flags.set(name, { type, default: usual, description });
    },
    getFlag: (name) => {
      const flag = extension.flags.get(name);
      return flag && (flagValues.get(name) ?? flag.default);
    },
    registerShortcut(key, definition) {
      needFunction(`The handler of "${key}"`, definition?.handler);
      if (reservedKeys.has(key.toLowerCase()))
        return log.warn(`Extension shortcut '${key}' from ${path} is reserved. Skipping.`);
      extension.shortcuts.set(key.toLowerCase(), { definition });
    },
    registerMessageRenderer(customType, renderer) {
      extension.messageRenderers.set(customType, renderer);
    },
    // Checked, and not used: the terminal shows neither entries of extensions nor changed Markdown.
    registerEntryRenderer: (customType, renderer) => needFunction(`The renderer of "${customType}"`, renderer),
    registerMarkdownTransformer: (transformer) => needFunction("The transformer", transformer),
    registerAssistantThinkingRenderer(renderer) {
      needFunction("The renderer of thoughts", renderer);
      extension.thinkingRenderer = renderer;
    },
    registerProvider(given: unknown, config: unknown = given) {
      const name = isObject(given) ? given.id : given;
      if (typeof name !== "string" || name === "" || !isObject(config))
        throw new GalleyError("invalid_argument", "registerProvider needs a name and a description, or a provider");
      extension.providers.set(name, config);
      const register = () => boundHost()?.registerProvider(extension.origin, name, config);
      guard(extension, "registerProvider", () => runAsHost(register));
    },
    unregisterProvider(name) {
      extension.providers.delete(name);
      runAsHost(() => boundHost()?.unregisterProvider(extension.origin, name));
    },
    events: {
      on(channel, handler) {
        needFunction(`The listener of "${channel}"`, handler);
        return bus.on(channel, (data) => guard(extension, `events:${channel}`, () => handler(data)));
      },
      emit: (channel, data) => runAsHost(() => bus.emit(channel, data)),
    },
  } satisfies Registrations as Registrations;
}

type Actions = Omit<ExtensionAPI, keyof Registrations | "cwd" | "exec" | "logger" | "typebox" | "zod" | "pi">;

function actions({ extension, log, host, onSendFailure }: ExtensionApiDeps): Actions {
  const act = <Result>(action: (host: ExtensionHost) => Result): Result => runAsHost(() => action(host()));
  /** Not awaited: the sender has gone on. */
  const send = (command: SendFailure["command"], sent: Promise<void>) =>
    void sent.catch((error: unknown) => {
      log.warn(`${extension.origin.path} sent a message that was refused: ${messageOf(error)}`);
      onSendFailure({ command, error: messageOf(error) });
    });
  return {
    sendMessage: (message, options) =>
      act((session) => send("extension_send", (async () => session.sendMessage(message, options))())),
    sendUserMessage: (content, options) =>
      act((session) => send("extension_send_user", (async () => session.sendUserMessage(content, options))())),
    appendEntry: (customType, data) => act((session) => session.appendEntry(customType, asStored(data))),
    getActiveTools: () => act((session) => session.getActiveTools()),
    getAllTools: () =>
      act((session) =>
        session.getAllTools().map(({ name, description, parameters, promptGuidelines, sourceInfo }) => ({
          name,
          description,
          parameters,
          promptGuidelines,
          sourceInfo,
        })),
      ),
    getCommands: () => act((session) => session.getCommands()),
    setActiveTools: (names) => act((session) => session.setActiveTools(names)),
    getSessionName: () => act((session) => session.getSessionName()),
    setSessionName: (name) => act((session) => session.setSessionName(name)),
    setLabel(...args: [string] | [string, string | undefined]) {
      if (args.length === 1) extension.label = args[0];
      else act((session) => session.setLabel(args[0], args[1]));
    },
    setModel: async ({ provider, id }) =>
      act((session) => {
        try {
          session.setModel(provider, id);
          return true;
        } catch (error) {
          if (GalleyError.is(error, "model_not_found") || GalleyError.is(error, "no_credential")) return false;
          throw error;
        }
      }),
    getThinkingLevel: () => act((session) => session.getThinkingLevel()),
    setThinkingLevel: (level) => act((session) => session.setThinkingLevel(level)),
  };
}

/** The file gets what is in memory now, whatever the extension does to its object later. */
function asStored(data: unknown): unknown {
  const text = JSON.stringify(data);
  return text === undefined ? undefined : JSON.parse(text);
}

function needFunction(what: string, value: unknown): void {
  if (typeof value !== "function") throw new GalleyError("invalid_argument", `${what} is not a function`);
}
