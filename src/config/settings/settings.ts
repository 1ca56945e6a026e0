// The settings of one session: defaults, the user's file, the project's file, and overrides for this run. Two objects
// in one process are independent, and nothing here writes to a file.

import { GalleyError } from "../../base/errors.js";
import { mergeValue, type SettingValues } from "./layers.js";
import { rpcDefaultKeys, type SettingKey, type SettingValue, settingKeys, settingOf } from "./schema.js";
import { checkValue } from "./setting.js";
import type { SettingProblem } from "./setting-problems.js";

export type SettingSource = "default" | "user" | "project" | "override";
export type SettingsSnapshot = { readonly [K in SettingKey]: SettingValue<K> };

/** What the project's file says that only a trusted project may. */
export interface PolicySetting {
  readonly file: string;
  readonly key: SettingKey;
  readonly value: unknown;
}

export interface SettingsOptions {
  readonly user?: SettingValues;
  /** Only what the project was allowed to set. */
  readonly project?: SettingValues;
  /** The part of the project's file that needs trust, whether it counts or not. */
  readonly projectPolicy?: readonly PolicySetting[];
  /** What the command line or the caller says. */
  readonly overrides?: SettingValues;
  readonly problems?: readonly SettingProblem[];
  /** Files that exist and cannot be read or parsed. */
  readonly brokenFiles?: readonly string[];
}

const none: SettingValues = new Map();

export class Settings {
  /** What was wrong in the files, each once. */
  readonly problems: readonly SettingProblem[];
  readonly projectPolicy: readonly PolicySetting[];
  readonly #brokenFiles: ReadonlySet<string>;
  readonly #overrides: Map<SettingKey, unknown>;
  #user: SettingValues;
  #project: SettingValues;

  constructor(options: SettingsOptions = {}) {
    this.#user = options.user ?? none;
    this.#project = options.project ?? none;
    this.#overrides = new Map(options.overrides);
    this.problems = options.problems ?? [];
    this.projectPolicy = options.projectPolicy ?? [];
    this.#brokenFiles = new Set(options.brokenFiles);
  }

  /** Lists and records are frozen. */
  get<K extends SettingKey>(key: K): SettingValue<K> {
    // Every value in a layer has passed the check of its row in the table.
    return mergeValue(key, [this.#user, this.#project, this.#overrides]) as SettingValue<K>;
  }

  /** The highest layer that sets it. */
  sourceOf(key: SettingKey): SettingSource {
    if (this.#overrides.has(key)) return "override";
    if (this.#project.has(key)) return "project";
    return this.#user.has(key) ? "user" : "default";
  }

  /** The user's file or this run sets it, whatever the project says. */
  isSetByUser(key: SettingKey): boolean {
    return this.#overrides.has(key) || this.#user.has(key);
  }

  /** What one layer says by itself, for a rule that weighs the layers in its own way. */
  saidBy<K extends SettingKey>(layer: Exclude<SettingSource, "default">, key: K): SettingValue<K> | undefined {
    const values = { user: this.#user, project: this.#project, override: this.#overrides }[layer];
    return values.get(key) as SettingValue<K> | undefined; // checked like every value in a layer
  }

  /** For this session only. Throws `invalid_argument` for a value that the setting does not take. */
  override<K extends SettingKey>(key: K, value: SettingValue<K>): void {
    const checked = checkValue(settingOf(key), value);
    if (!checked.ok) throw new GalleyError("invalid_argument", `${key}: expected ${checked.expected}`);
    this.#overrides.set(key, checked.value);
  }

  snapshot(): SettingsSnapshot {
    return Object.fromEntries(settingKeys.map((key) => [key, this.get(key)])) as SettingsSnapshot;
  }

  /** Workflow settings of the files no longer count; overrides, earlier and later ones, still do. */
  resetForRpc(): void {
    this.#user = withoutWorkflow(this.#user);
    this.#project = withoutWorkflow(this.#project);
  }

  isBroken(file: string): boolean {
    return this.#brokenFiles.has(file);
  }
}

function withoutWorkflow(values: SettingValues): SettingValues {
  return new Map([...values].filter(([key]) => !rpcDefaultKeys.includes(key)));
}
