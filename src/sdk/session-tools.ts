// The tools of a session: the selected built-in ones, those that the program passes in, `resolve` and `undo`. Made
// together with the session, because they use what it holds.

import { GalleyError } from "../base/errors.js";
import type { Workspace } from "../files/workspace.js";
import type { PendingActions } from "../pending/pending-actions.js";
import { actionsNeeded, planOf, stagedFor } from "../pending/store/stack.js";
import type { ChangeWriter } from "../plans/change-writer.js";
import { typeAfter } from "../plans/plan.js";
import type { SessionToolDeps } from "../session/agent-session-deps.js";
import { type BuiltInToolDeps, createBuiltInTools } from "../tools/index.js";
import { createResolve } from "../tools/resolve.js";
import type { KeptFiles, Staging } from "../tools/staging.js";
import type { AnyTool } from "../tools/tool.js";
import { createUndo } from "../tools/undo.js";
import type { SessionAccess } from "./access/access-mode.js";
import { type GivenTools, withoutReplaced } from "./custom-tools.js";
import type { ToolsInstead } from "./extensions/tool-makers.js";
import type { ConfinedCommands } from "./sandbox/confined-commands.js";
import { outputMask } from "./secrets/result-masks.js";
import { selectTools } from "./select-tools.js";
import type { SessionEnvironment } from "./session-environment.js";
import type { CreateAgentSessionOptions } from "./session-options.js";
import type { UserQuestions } from "./session-ui.js";
import { createToolResources, type ToolResources, toolSettingsOf } from "./tool-resources.js";

export interface SessionToolsDeps {
  readonly environment: SessionEnvironment;
  readonly resources: ToolResources;
  readonly access: SessionAccess;
  readonly confinement: ConfinedCommands;
  readonly changes: ChangeWriter;
  readonly given: GivenTools;
  readonly user: Pick<UserQuestions, "permit" | "dialogs">;
}

const onlyHereText =
  "The host provides the workspace of this session, so tools can be made only for the session's own directory.";

export class SessionTools {
  readonly #deps: SessionToolsDeps;
  readonly #options: CreateAgentSessionOptions;
  #own: BuiltInToolDeps | undefined;
  #pending: SessionToolDeps["pending"] | undefined;

  constructor(deps: SessionToolsDeps, options: CreateAgentSessionOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Of the session; it is made together with the tools. */
  get pending(): SessionToolDeps["pending"] {
    if (!this.#pending) throw new GalleyError("unsupported", "The tools of the session are not made yet.");
    return this.#pending;
  }

  /** How the session's tools stage; undefined before they are made. */
  get staging(): Staging | undefined {
    return this.#own?.staging;
  }

  /** Called once, by the session. `reserve` is given the names that no extension may take. */
  create(session: SessionToolDeps, reserve: (names: readonly string[]) => void): readonly AnyTool[] {
    const { environment, resources, access, confinement, changes, given, user } = this.#deps;
    const { clock, settings, env } = environment;
    const { toolNames, allowsTool = () => true, overrideBuiltins, persist: isPersistent = false } = this.#options;
    const staging = stagingOf(session.pending, { changes, access, kept: confinement.kept });
    this.#pending = session.pending;
    this.#own = {
      todos: session.todos,
      artifacts: session.artifacts,
      ...resources,
      staging,
      clock,
      isPersistent,
      dialogs: user.dialogs,
      settings: toolSettingsOf(settings, env),
      maskOutput: outputMask(environment),
      confinement,
    };
    const builtIn = createBuiltInTools(this.#own);
    const others = toolNames?.filter((name) => name !== "undo");
    const chosen = selectTools(builtIn, settings, others);
    const isUndoNamed = toolNames?.includes("undo") ?? false;
    const undo = createUndo((request) => session.changes.undo(request), { hidden: !isUndoNamed });
    const resolve = createResolve((params) => session.pending.resolve(params));
    const added = [...given.agent, resolve];
    const known = [...builtIn, undo];
    reserve([...known, ...added, ...given.custom.map(({ tool }) => tool)].map(({ name }) => name));
    const remaining = withoutReplaced([...chosen, undo], given, { overrideBuiltins, known, reserved: resolve.name });
    return [...remaining.filter(({ name }) => allowsTool(name)), ...added];
  }

  /** The built-in tools, as they would be in another directory; none before the session's own are made. */
  in(cwd: string, { processes: given, autoResize, runsElsewhere }: ToolsInstead = {}): readonly AnyTool[] {
    if (!this.#own || !this.#pending) return [];
    const { environment, resources, access, confinement, changes, user } = this.#deps;
    const { kept } = confinement;
    const { settings: usual } = this.#own;
    const read = { ...usual.read, ...(autoResize === undefined ? {} : { autoResize }) };
    const own = {
      ...this.#own,
      settings: { ...usual, read },
      ...(given ? { processes: given } : {}),
      ...(runsElsewhere ? { confinement: undefined } : {}),
    };
    if (cwd === environment.cwd) return createBuiltInTools(own);
    if (this.#options.workspace) throw new GalleyError("unsupported", onlyHereText);
    const { agentDir, env, settings, clock, log } = environment;
    const { processes } = resources;
    const there = createToolResources({ cwd, agentDir, env, settings, clock, log, permit: user.permit }, { processes });
    const staging = stagingOf(this.#pending, { changes, access, workspace: there.workspace, kept });
    return createBuiltInTools({ ...own, ...there, staging, ...(given ? { processes: given } : {}) });
  }
}

/** `workspace`: whose rules count for what is written at once; default: the session's. */
function stagingOf(
  pending: PendingActions,
  {
    changes: writer,
    access,
    workspace,
    kept,
  }: { changes: ChangeWriter; access: SessionAccess; workspace?: Workspace; kept?: () => KeptFiles | undefined },
): Staging {
  return {
    mode: () => access.staging,
    stage: (action) => pending.stage(action),
    staged: (path) =>
      stagedFor(pending.store, path).map(({ id, change }) => ({
        id,
        bytes: change.kind === "delete" ? undefined : change.after,
        type: typeAfter(change),
        mode: change.mode,
      })),
    get kept() {
      return kept?.();
    },
    stagedPaths: () => [
      ...new Set(pending.store.list().flatMap((stored) => planOf(stored)?.changes.map(({ path }) => path) ?? [])),
    ],
    needed: (changes) => actionsNeeded(pending.store, changes),
    note: ({ files, ...what }) =>
      writer.note(
        {
          ...what,
          by: "model",
          reason: "",
          files: files.map((file) => ({ kind: file.before ? ("modify" as const) : ("create" as const), ...file })),
        },
        pending.session,
      ),
    wrote: (paths) => pending.filesWritten(paths),
    async applyNow(changes, what) {
      const usual = { by: "model", reason: "Staging is off." } as const;
      const applied = await writer.apply(changes, { ...usual, ...what, pendingId: "" }, pending.session, workspace);
      await pending.filesWritten(changes.map(({ path }) => path));
      return applied;
    },
  };
}
