// `galley tools`: lists the custom tools of this directory, runs one, checks a module, and creates a new one.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { GalleyError, systemCode } from "../../base/errors.js";
import type { Registered } from "../../sdk/extensions/check-module.js";
import { type ExtensionLocation, listTools, newTool, type ToolReport } from "../../sdk/extensions/manage-extensions.js";
import { exitCodes } from "../exit-codes.js";
import { unknownOption, unknownSubcommand, wrongUse } from "../verb-help.js";
import { type CommandOutput, runExtensionCommand } from "./extension-command.js";

export async function runToolsCommand(words: readonly string[]): Promise<void> {
  const [verb, ...rest] = words;
  if (verb === "run") return (await import("./tools-run.js")).runToolsRun(rest);
  const names = rest.filter((word) => !word.startsWith("--"));
  const flags = rest.filter((word) => word.startsWith("--"));
  const rule = verb !== undefined && Object.hasOwn(rules, verb) ? rules[verb as keyof typeof rules] : undefined;
  if (!rule) throw unknownSubcommand("tools", verb);
  const unknown = flags.find((flag) => !rule.flags.includes(flag));
  if (unknown !== undefined) throw unknownOption("tools", unknown, rule.flags);
  if (names.length !== rule.names) throw wrongUse("tools", `galley tools ${verb} takes ${rule.takes}.`);
  await runExtensionCommand((location, output) => rule.run({ location, output, name: names[0] ?? "", flags }));
}

interface Request {
  readonly location: ExtensionLocation;
  readonly output: CommandOutput;
  readonly name: string;
  readonly flags: readonly string[];
}

const rules = {
  list: { names: 0, takes: "no names", flags: ["--json", "--trust-project"], run: list },
  check: { names: 1, takes: "one path", flags: ["--json"], run: check },
  new: { names: 1, takes: "one name", flags: ["--project"], run: create },
};

async function list({ location, output, flags }: Request): Promise<number> {
  const found = await listTools(location, { trustProject: flags.includes("--trust-project") });
  if (flags.includes("--json")) output.print(`${JSON.stringify(found)}\n`);
  else {
    for (const { path, error } of found.errors) location.log.error(`${path}: ${error}`);
    output.print(found.tools.length === 0 ? "No custom tools here.\n" : found.tools.map(lineOf).join(""));
  }
  return exitCodes.done;
}

async function check({ location, output, name, flags }: Request): Promise<number> {
  const { checkModule } = await import("../../sdk/extensions/check-module.js");
  const result = await checkModule(location, name);
  const { modules, tools, problems, advice } = result;
  if (flags.includes("--json")) output.print(`${JSON.stringify(result)}\n`);
  else {
    for (const module of modules) output.print(registeredText(module));
    output.print(tools.map(lineOf).join(""));
    for (const problem of problems) output.print(`problem: ${problem}\n`);
    for (const hint of advice) output.print(`advice: ${hint}\n`);
    if (modules.length + problems.length === 0) output.print("The module makes no tool on this machine.\n");
  }
  return problems.length === 0 ? exitCodes.done : exitCodes.failed;
}

/** What it is, and a line for each kind of thing that it registers. */
function registeredText({ path, form, ...registered }: Registered): string {
  const lines = Object.entries(registered)
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `  ${`${what}:`.padEnd(10)} ${names.join(", ")}\n`);
  return `${path}: ${form}\n${lines.join("")}`;
}

async function create({ location, output, name, flags }: Request): Promise<number> {
  const { path, text } = await newTool(location, name, { isForProject: flags.includes("--project") });
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    throw new GalleyError("file_refused", `${path} already exists. Nothing was written.`);
  }
  output.print(`Wrote ${path}\n`);
  return exitCodes.done;
}

function lineOf({ name, approval, isHidden, isDeferrable, path, source }: ToolReport): string {
  const marks = [approval, ...(isDeferrable ? ["previews"] : []), ...(isHidden ? ["hidden"] : [])].join(", ");
  const origin = source ? `${source.level}, ${source.providerName}` : "named";
  return `${name.padEnd(24)} ${marks.padEnd(16)} ${path} (${origin})\n`;
}
