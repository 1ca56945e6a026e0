// The templates, skills and rules of one session. Read once, behind the session's start and before its first model
// call. Where there are none, a session has no such object. Promises: nothing of an untrusted project is read, and no
// bad file affects the others.

import type { Log } from "../../base/log.js";
import { matchesGlob } from "../../base/match-glob.js";
import { sourceInfoOf } from "../../extensions/api/source-info.js";
import type { DiscoveredResources } from "../../extensions/hooks/hooks.js";
import type { Coverage } from "../../extensions/trust/digest-project.js";
import { lookAt } from "../../files/module-files.js";
import { findProject } from "../../files/paths/find-roots.js";
import { isWithin, printable } from "../../files/paths/resolve-path.js";
import type { SlashCommand } from "../../protocol/data.js";
import type { PromptLibrary } from "../../session/prompt-library.js";
import type { Rules } from "../../session/rules/load-rules.js";
import type { ConfigRoot } from "../config-roots.js";
import type { NamedPackages } from "../packages.js";
import { type ConfigLocation, configRootsAt, surveyExtensions } from "../survey-extensions.js";
import {
  findTextSources,
  type PromptTextOptions,
  type TextSources,
  usableSources,
  withDiscovered,
} from "./find-prompt-texts.js";
import { expandSkill, type Skill } from "./skill.js";
import { expandTemplate, type PromptTemplate } from "./template.js";
import type { TextReader } from "./text-files.js";
import { textKinds } from "./text-sources.js";

export interface SessionPromptsDeps extends ConfigLocation {
  readonly log: Log;
  /** The configuration directories. */
  readonly roots: readonly ConfigRoot[];
  readonly isTrustedForThisRun: boolean;
  /** Rules come from elsewhere. */
  readonly withoutRules: boolean;
  /** The decision about the project, where extensions need one too. */
  readonly modules?: ProjectTrust | undefined;
}

export interface ProjectTrust {
  /** What the project is trusted with; undefined: nothing. */
  projectCoverage(): Promise<Coverage | undefined>;
  /** Everything is to be read again. */
  onRenewed(listener: () => Promise<void>): void;
  /** Extensions name texts of their own, or others than before. */
  onDiscovered(listener: (found: DiscoveredResources) => Promise<void>): void;
  /** Never rejects. */
  ready(): Promise<void>;
  customCommands(): readonly { readonly name: string }[];
}

type SessionTexts = PromptTextOptions & NamedPackages;

/** Undefined where there is nothing to read, nothing was given, and no extension can name anything. */
export function findSessionPrompts(deps: SessionPromptsDeps, options: SessionTexts): SessionPrompts | undefined {
  const sources = findTextSources(deps, options, deps.roots);
  const given = [options.skills, options.promptTemplates, options.slashCommands];
  const isNeeded = textKinds.some((kind) => sources[kind].length > 0) || given.some((list) => list?.length);
  return isNeeded || deps.modules ? new SessionPrompts(deps, options, sources) : undefined;
}

const noRules: Rules = { stream: [], prompt: [] };

export class SessionPrompts implements PromptLibrary {
  readonly #deps: SessionPromptsDeps;
  readonly #options: SessionTexts;
  #sources: TextSources;
  #discovered: DiscoveredResources | undefined;
  #reading: Promise<void> | undefined;
  #isReady = false;
  #templates: ReadonlyMap<string, PromptTemplate> = new Map();
  #skills: ReadonlyMap<string, Skill> = new Map();
  #rules = noRules;
  #system: { replaced?: string; added?: string } = {};

  constructor(deps: SessionPromptsDeps, options: SessionTexts, sources: TextSources) {
    this.#deps = deps;
    this.#options = options;
    this.#sources = sources;
    deps.modules?.onRenewed(() => this.#readAgain());
    deps.modules?.onDiscovered((found) => {
      this.#discovered = found;
      return this.#readAgain();
    });
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  ready(): Promise<void> {
    this.#reading ??= this.#read();
    return this.#reading;
  }

  expand(text: string): string | undefined {
    const [, name = "", words = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
    const skill = this.#skills.get(/^skill:(.*)$/.exec(name)?.[1] ?? "");
    if (skill) return expandSkill(skill, words);
    const template = this.#templates.get(name);
    return template && expandTemplate(template, words);
  }

  commands(): SlashCommand[] {
    return [
      ...[...this.#templates.values()].map(
        ({ name, description, argumentHint, place }): SlashCommand => ({
          name,
          description,
          source: "prompt",
          sourceInfo: { ...sourceInfoOf(place?.path ?? name, place), argumentHint },
        }),
      ),
      ...this.skills.map(
        ({ name, description, filePath, place }): SlashCommand => ({
          name: `skill:${name}`,
          description,
          source: "skill",
          sourceInfo: sourceInfoOf(place?.path ?? filePath, place),
        }),
      ),
    ];
  }

  get skills(): readonly Skill[] {
    return [...this.#skills.values()];
  }

  get rules(): Rules {
    return this.#rules;
  }

  /** A trusted project's system prompt, and what it adds to one. */
  get system(): { readonly replaced?: string; readonly added?: string } {
    return this.#system;
  }

  /** Until they are read, the earlier ones stay. */
  #readAgain(): Promise<void> {
    this.#sources = withDiscovered(
      findTextSources(this.#deps, this.#options, configRootsAt(this.#deps)),
      this.#discovered,
      this.#deps,
    );
    if (!this.#reading) return Promise.resolve();
    this.#reading = this.#reading.then(() => this.#read());
    return this.#reading;
  }

  async #read(): Promise<void> {
    try {
      await this.#load();
    } catch (error) {
      this.#deps.log.error("templates, skills and rules could not be read", error);
    }
    this.#isReady = true;
    void this.#deps.modules?.ready().then(() => this.#warnOfHidden()); // not awaited: they may wait for these
  }

  /** Those that are hidden by a custom command. */
  #warnOfHidden(): void {
    for (const { name } of this.#deps.modules?.customCommands() ?? []) {
      const place = this.#templates.get(name)?.place;
      if (place) this.#deps.log.warn(`${printable(place.path)}: /${name} is a custom command, which comes first`);
    }
  }

  async #load(): Promise<void> {
    const { log } = this.#deps;
    const project = await this.#project();
    const sources = usableSources(this.#sources, ({ path }) => project !== undefined && isCovered(path, project));
    const { loadTemplates, loadSkills, loadRuleFiles, loadSystem } = await import("./load-prompts.js");
    const reader: TextReader = { log, project };
    const { skills = [], promptTemplates = [], slashCommands = [] } = this.#options;
    this.#templates = byName([
      ...slashCommands,
      ...promptTemplates,
      ...(await loadTemplates(sources.templates, reader)),
    ]);
    this.#skills = byName(
      [...skills, ...(await loadSkills(sources.skills, reader))].filter((skill) => this.#isWanted(skill)),
    );
    this.#rules = sources.rules.length > 0 ? await loadRuleFiles(sources.rules, reader) : noRules;
    this.#system = loadSystem(sources.system, reader);
  }

  #isWanted({ name }: Skill): boolean {
    const { skillPatterns } = this.#options;
    return !skillPatterns || skillPatterns.some((pattern) => matchesGlob(name, pattern));
  }

  /** Undefined where the project has nothing to say, or may not say any of it. */
  async #project(): Promise<TextReader["project"]> {
    const { cwd, home, log, modules, isTrustedForThisRun } = this.#deps;
    const used = textKinds.flatMap((kind) =>
      this.#sources[kind]
        .filter(({ path, level }) => level === "project" && lookAt(path).kind !== "missing")
        .map(({ path }) => ({ path, kind: itemKinds[kind] })),
    );
    if (used.length === 0) return undefined;
    const coverage = modules
      ? await modules.projectCoverage()
      : (await surveyExtensions(this.#deps, { isTrustedForThisRun })).grant.coverage;
    const { repositoryRoot, directories } = findProject({ cwd, home });
    const project = coverage && { coverage, root: repositoryRoot ?? directories.at(-1) ?? cwd };
    const untrusted = used.filter(({ path }) => !project || !isCovered(path, project));
    if (untrusted.length > 0) {
      const { untrustedLine } = await import("../../extensions/trust/untrusted-line.js");
      log.warn(untrustedLine(untrusted.map(({ kind }) => kind)));
    }
    return project;
  }
}

const itemKinds = { templates: "prompt", skills: "skill", rules: "rule", system: "prompt" } as const;

/** A path that leads out of the project is left to the reader, which says so. */
function isCovered(path: string, { coverage, root }: NonNullable<TextReader["project"]>): boolean {
  const looked = lookAt(path);
  if (!("realPath" in looked)) return true; // nothing is there to be read
  return coverage.isCovered(looked.realPath) || !isWithin(looked.realPath, root);
}

/** The first of a name counts. */
function byName<Value extends { readonly name: string }>(values: readonly Value[]): Map<string, Value> {
  const first = new Map<string, Value>();
  for (const value of values) if (!first.has(value.name)) first.set(value.name, value);
  return first;
}
