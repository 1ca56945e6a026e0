// `DefaultResourceLoader` of pi: what a session that an extension makes reads besides its prompt. The skills and context files are
// those of the session that the extension is in.

import { isObject, type JsonObject } from "../../base/json.js";
import type { SystemPromptOptions } from "../../extensions/hooks/hooks.js";
import type { CreateAgentSessionOptions } from "../session-options.js";

export interface ResourceLoaderDeps {
  promptParts(): Pick<SystemPromptOptions, "contextFiles"> & { readonly skills: readonly object[] };
}

type Override = (base: JsonObject) => JsonObject | undefined;

export function resourceLoaderOf({ promptParts }: ResourceLoaderDeps): new (options?: JsonObject) => object {
  return class DefaultResourceLoader {
    readonly #options: JsonObject;
    #isLoaded = false;

    constructor(options: JsonObject = {}) {
      this.#options = options;
    }

    async reload(): Promise<void> {
      this.#isLoaded = true;
    }

    getExtensions() {
      return { extensions: [], errors: [], runtime: {} };
    }

    getSkills() {
      return this.#found("skills", this.#options.noSkills ? [] : promptParts().skills);
    }

    getPrompts() {
      return this.#found("prompts", []);
    }

    getThemes() {
      return this.#found("themes", []);
    }

    getAgentsFiles() {
      const own = this.#options.noContextFiles ? [] : promptParts().contextFiles;
      return this.#overridden("agentsFilesOverride", { agentsFiles: this.#isLoaded ? [...own] : [] });
    }

    getSystemPrompt(): string | undefined {
      const { systemPrompt, systemPromptOverride } = this.#options;
      const own = typeof systemPrompt === "string" ? systemPrompt : undefined;
      return typeof systemPromptOverride === "function" ? systemPromptOverride(own) : own;
    }

    getAppendSystemPrompt(): string[] {
      const { appendSystemPrompt, appendSystemPromptOverride } = this.#options;
      const own = [appendSystemPrompt].flat().filter((text): text is string => typeof text === "string");
      return typeof appendSystemPromptOverride === "function" ? appendSystemPromptOverride(own) : own;
    }

    getSystemPromptSource(): undefined {}

    getAppendSystemPromptSources(): [] {
      return [];
    }

    extendResources(): void {}

    #found(name: "skills" | "prompts" | "themes", list: readonly unknown[]) {
      return this.#overridden(`${name}Override`, { [name]: this.#isLoaded ? [...list] : [], diagnostics: [] });
    }

    #overridden(name: string, base: JsonObject): JsonObject {
      const override = this.#options[name];
      return typeof override === "function" ? ((override as Override)(base) ?? base) : base;
    }
  };
}

/** What a loader, galley's or the module's own, says of a session. */
export function fromLoader(loader: unknown): Partial<CreateAgentSessionOptions> {
  if (!isObject(loader)) return {};
  const ask = (name: string): unknown => {
    const method = loader[name];
    return typeof method === "function" ? method.call(loader) : undefined;
  };
  const listOf = (name: string, member: string): unknown[] => {
    const found = ask(name);
    const list = isObject(found) ? found[member] : undefined;
    return Array.isArray(list) ? list : [];
  };
  const [replaced, added] = [ask("getSystemPrompt"), ask("getAppendSystemPrompt")];
  const texts = Array.isArray(added) ? added.filter((text) => typeof text === "string") : [];
  return {
    systemPrompt: (standard) => [typeof replaced === "string" ? replaced : standard, ...texts].join("\n\n"),
    contextFiles: listOf("getAgentsFiles", "agentsFiles").filter(isContextFile),
    skills: listOf("getSkills", "skills").flatMap(asSkill),
    promptTemplates: [],
    slashCommands: [],
  };
}

function isContextFile(file: unknown): file is { path: string; content: string } {
  return isObject(file) && typeof file.path === "string" && typeof file.content === "string";
}

function asSkill(skill: unknown): NonNullable<CreateAgentSessionOptions["skills"]>[number][] {
  if (!isObject(skill)) return [];
  const { name, description, filePath, content = "", disableModelInvocation } = skill;
  if (![name, description, filePath].every((text) => typeof text === "string")) return [];
  const texts = { name, description, filePath, content } as Record<
    "name" | "description" | "filePath" | "content",
    string
  >;
  return [{ ...texts, disableModelInvocation: disableModelInvocation === true }];
}
