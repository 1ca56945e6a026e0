// The budget of a session: what the caller says, else what the settings say.

import { GalleyError } from "../base/errors.js";
import { userSettingsFile } from "../config/settings/load-settings.js";
import type { Settings } from "../config/settings/settings.js";
import { capabilitiesOf, type ProviderModel } from "../provider/provider.js";
import type { SessionRecord } from "../record/record.js";
import { Budget, type BudgetLimits, checkPrice } from "../session/budget/budget.js";
import type { ModelSource } from "../session/models/model-source.js";

/**
 * Throws `invalid_argument` for a limit that is none, `usage` for one in the user's settings, `unknown_price` where a
 * limit in dollars could not hold for the model that the session begins with.
 */
export function createBudget(
  given: BudgetLimits = {},
  { settings, agentDir, model }: { settings: Settings; agentDir: string; model: ProviderModel | undefined },
): Budget {
  checkLimits(given);
  checkSettings(settings, userSettingsFile(agentDir));
  const limits = {
    ...limit("maxCost", given.maxCost ?? settings.get("budget.maxCost")),
    ...limit("maxTurns", given.maxTurns ?? settings.get("budget.maxTurns")),
    ...limit("maxTokens", given.maxTokens ?? settings.get("budget.maxTokens")),
  };
  checkPrice(limits, model);
  return new Budget(limits);
}

/** The model that the record says, where it can be used. */
export function recordedModel({ context }: SessionRecord, models: ModelSource): ProviderModel | undefined {
  const name = context.models.get("default") ?? "";
  const slash = name.indexOf("/");
  const found = models.find(name.slice(0, Math.max(slash, 0)), name.slice(slash + 1));
  return found && capabilitiesOf(found).isLanguageModel && models.hasCredential(found) ? found : undefined;
}

function limit<Name extends keyof BudgetLimits>(name: Name, value: number | undefined): { [N in Name]?: number } {
  return (value === undefined ? {} : { [name]: value }) as { [N in Name]?: number };
}

const isLimit: Readonly<Record<keyof BudgetLimits, (value: number) => boolean>> = {
  maxCost: (value) => Number.isFinite(value) && value > 0,
  maxTurns: (value) => Number.isSafeInteger(value) && value > 0,
  maxTokens: (value) => Number.isSafeInteger(value) && value > 0,
};

/** A misspelt limit would be none. */
function checkLimits(given: object): void {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(isLimit, name))
      throw new GalleyError("invalid_argument", `createAgentSession: budget has no limit "${name}".`);
    if (value !== undefined && !isLimit[name as keyof BudgetLimits](value))
      throw new GalleyError("invalid_argument", `createAgentSession: budget.${name} must be a number above 0.`);
  }
}

/** What a project says wrongly could only have lowered a limit; what the user says wrongly leaves none. */
function checkSettings({ problems }: Settings, userFile: string): void {
  const problem = problems.find(({ file, key = "" }) => file === userFile && /^budget(?:\.|$)/.test(key));
  if (problem) throw new GalleyError("usage", `${problem.text}. Nothing is run without a limit that was set.`);
}
