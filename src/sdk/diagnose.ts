// What can be said about this installation and this project without changing them: each finding is fine, or says how to
// mend it. Runs `git`, ripgrep and galley's own parser; nothing of the project, and nothing over the network.

import { systemClock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import { type Log, silentLog } from "../base/log.js";
import { leftJournals } from "../journal/left-journals.js";
import type { Processes } from "../processes/processes.js";
import { loginCommand } from "../provider/credentials.js";
import type { ModelRegistry } from "../provider/models/model-registry.js";
import { plannerModel } from "../provider/planner/planner-model.js";
import type { ProviderModel } from "../provider/provider.js";
import { tryToWrite } from "../record/store/try-to-write.js";
import { languages } from "../tools/ast/languages.js";
import { sharedParsers } from "../tools/ast/parsers.js";
import { installedRipgrep } from "../tools/search/ripgrep.js";
import { type ExtensionLocation, findExtensionLocation, untrustedModules } from "./extensions/manage-extensions.js";
import type { Finding } from "./finding.js";
import { loadModelRegistry } from "./load-models.js";
import { setKeyText } from "./models/list-models.js";
import { listDamagedChanges, listPendingSessions, type PendingLocation } from "./pending-sessions.js";
import { createToolResources } from "./tool-resources.js";

const leastNode = [20, 19] as const;
const versionLimitMs = 5000;

export async function diagnose(cwd: string): Promise<Finding[]> {
  const location = await findExtensionLocation({ cwd, log: silentLog, builtInToolNames: [] });
  const { home } = location; // programs start there: nothing of the project can change what they do
  const { processes } = createToolResources({ ...location, clock: systemClock });
  try {
    const found = await Promise.all([
      [checkNode(process.versions.node)],
      checkProgram("git", { file: "git", mend: "Install git, and see that it is on PATH." }, processes, home),
      checkRipgrep(processes, home),
      checkGrammars(),
      checkSandbox(location),
      checkSettings(location),
      checkModels(location),
      checkOtherAgents(location),
      checkTrust(location),
      checkJournals(location.agentDir),
      checkRecords({ cwd, agentDir: location.agentDir }),
      checkAgentDirectory(location.agentDir),
    ]);
    return found.flat();
  } finally {
    await processes.shutdown();
  }
}

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOk = major > leastNode[0] || (major === leastNode[0] && minor >= leastNode[1]);
  const mend = `Install Node ${leastNode.join(".")} or newer.`;
  return { name: "node", isOk, text: version, ...(isOk ? {} : { mend }) };
}

async function checkRipgrep(processes: Processes, cwd: string): Promise<Finding[]> {
  const mend = "Searches work without it, but slower. Run npm install again, with optional packages.";
  const file = installedRipgrep();
  if (file === undefined) return [{ name: "ripgrep", isOk: false, text: "is not installed", mend }];
  return checkProgram("ripgrep", { file, mend }, processes, cwd);
}

async function checkProgram(
  name: string,
  { file, mend }: { file: string; mend: string },
  processes: Processes,
  cwd: string,
): Promise<Finding[]> {
  let output = "";
  const failed = (text: string): Finding[] => [{ name, isOk: false, text, mend }];
  try {
    const { exitCode } = await processes.run({
      command: { file, args: ["--version"] },
      cwd,
      timeoutMs: versionLimitMs,
      onOutput(chunk, stream) {
        if (stream === "stdout" && output.length < 1000) output += Buffer.from(chunk).toString("utf8");
        return undefined;
      },
    });
    if (exitCode !== 0) return failed(`ended with exit code ${exitCode}`);
    return [{ name, isOk: true, text: /\d[\w.]*/.exec(output)?.[0] ?? "works" }];
  } catch (error) {
    return failed(messageOf(error));
  }
}

async function checkGrammars(): Promise<Finding[]> {
  const mend = "Structural search and rewriting need it. Run npm install again, with optional packages.";
  try {
    const { expandos, broken } = await sharedParsers().grammars();
    const optional = languages.filter(({ packageName }) => packageName !== undefined).map(({ grammar }) => grammar);
    const missing = optional.filter((grammar) => !Object.hasOwn(expandos, grammar));
    const known = languages.map(({ names }) => names[0]).filter((name) => !missing.includes(name));
    if (missing.length === 0) return [{ name: "grammars", isOk: true, text: known.join(", ") }];
    const reasons = missing.map((name) => (broken[name] === undefined ? name : `${name} (${broken[name]})`));
    return [{ name: "grammars", isOk: false, text: `missing: ${reasons.join(", ")}`, mend }];
  } catch (error) {
    return [{ name: "grammars", isOk: false, text: messageOf(error), mend }];
  }
}

async function checkSandbox(location: ExtensionLocation): Promise<Finding[]> {
  return (await import("./sandbox/diagnose-sandbox.js")).diagnoseSandbox(location);
}

async function checkSettings({ settings }: ExtensionLocation): Promise<Finding[]> {
  if (settings.problems.length === 0) return [{ name: "settings", isOk: true, text: "no problems in the files" }];
  const mend = "Edit the file, or remove the setting with  galley config unset KEY.";
  return settings.problems.map(({ text }) => ({ name: "settings", isOk: false, text, mend }));
}

async function checkModels({ agentDir, env, settings }: ExtensionLocation): Promise<Finding[]> {
  const told: string[] = [];
  const log: Log = { warn: (text) => void told.push(text), error: (text) => void told.push(text) };
  const registry = await loadModelRegistry({
    agentDir,
    env,
    disabledProviders: settings.get("disabledProviders"),
    log,
  });
  const mend = `See  galley models  and  ${agentDir}/models.yml.`;
  return [...told.map((text) => ({ name: "models", isOk: false, text, mend })), ...modelFindings(registry, agentDir)];
}

/** The planner is no language model: alone it is worth a line. */
function modelFindings(registry: ModelRegistry, agentDir: string): Finding[] {
  const name = "models";
  const models = registry.all().filter((model) => model !== plannerModel);
  if (models.length === 0) {
    const text = "no model is configured: the built-in planner answers, which is not a language model";
    return [{ name, isOk: false, text, mend: `${setKeyText}.` }];
  }
  const providers = [...new Set(models.map(({ provider }) => provider))];
  return providers.map((provider) => {
    const own = models.filter((model) => model.provider === provider);
    const usable = own.filter((model) => registry.hasCredential(model)).length;
    if (usable > 0) return { name, isOk: true, text: `${provider}: ${usable} of ${own.length} can be used` };
    const variable = registry.keyVariable(own[0] as ProviderModel);
    const key =
      variable === undefined ? `apiKey for ${provider} in ${agentDir}/models.yml` : `${variable} in the environment`;
    const login = loginCommand(provider);
    const mend = login === undefined ? `Set ${key}.` : `Set ${key}, or run: ${login}`;
    return { name, isOk: false, text: `${provider}: no key`, mend };
  });
}

async function checkOtherAgents(location: ExtensionLocation): Promise<Finding[]> {
  const { unusedConfigs, unusedText } = await import("./import/plan-import.js");
  return unusedConfigs(location).map((source) => {
    const mend = `galley import ${source}  shows what it would copy.`;
    return { name: source, isOk: true, text: unusedText(source), mend };
  });
}

async function checkTrust(location: ExtensionLocation): Promise<Finding[]> {
  const { settings } = location;
  const name = "trust";
  const untrusted = await untrustedModules(location);
  if (untrusted.length === 0) return [{ name, isOk: true, text: "nothing of this project waits for trust" }];
  const count = `${untrusted.length} of this project's tools, extensions and hooks`;
  if (settings.get("security.projectModules") === "deny")
    return [{ name, isOk: true, text: `${count} are not loaded: security.projectModules is deny` }];
  return [{ name, isOk: false, text: `${count} are not trusted`, mend: "galley trust  shows them and asks." }];
}

async function checkJournals(agentDir: string): Promise<Finding[]> {
  const name = "journals";
  const left = await leftJournals(agentDir);
  if (left.length === 0) return [{ name, isOk: true, text: "no change is half applied" }];
  return left.map(({ path, root }) => ({
    name,
    isOk: false,
    text: `a change is half applied in ${root ?? path}, or is being applied now`,
    mend: root === undefined ? "Run  galley recover  in its project." : `In ${root} run  galley recover.`,
  }));
}

/** Of this project: what cannot be read any more. */
async function checkRecords(location: PendingLocation): Promise<Finding[]> {
  const name = "records";
  const [sessions, changes] = await Promise.all([listPendingSessions(location), listDamagedChanges(location)]);
  const actions = sessions.flatMap((session) => session.actions);
  const found = [
    ...actions.flatMap(({ name: id, stored: { damage } }) => (damage === undefined ? [] : `${id}: ${damage}`)),
    ...changes.map(({ id, reason }) => `${id}: its record is damaged: ${reason}`),
    ...sessions.flatMap(({ session: { path }, damage }) => (damage === undefined ? [] : `${path}: ${damage}`)),
  ];
  if (found.length === 0) return [{ name, isOk: true, text: "what is pending and what can be undone can be read" }];
  const mend = "Restore the file from a backup; what is pending can be discarded and previewed again.";
  return found.map((text) => ({ name, isOk: false, text, mend }));
}

/** By writing there, as every session will. */
async function checkAgentDirectory(agentDir: string): Promise<Finding[]> {
  const name = "storage";
  const problem = await tryToWrite(agentDir);
  if (problem === undefined) return [{ name, isOk: true, text: `${agentDir} can be written` }];
  const mend = "Sessions and previews cannot be kept until then. Make room, or name another with GALLEY_AGENT_DIR.";
  return [{ name, isOk: false, text: `${agentDir} cannot be written: ${problem}`, mend }];
}
