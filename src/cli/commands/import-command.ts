// `galley import`: shows what galley could take over from pi, omp or xcsh, and writes it when the user agrees.

import { createInterface } from "node:readline/promises";
import { messageOf } from "../../base/errors.js";
import { homedir } from "../../base/home.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { agentDirectory } from "../../config/agent-directory.js";
import { type ImportPlan, importSources, type LeftOut, planImport } from "../../sdk/import/plan-import.js";
import { writeImport } from "../../sdk/import/write-import.js";
import { builtInThemes } from "../../tui/theme/colours.js";
import { readTheme } from "../../tui/theme/read-theme.js";
import { asUserWrites } from "../create-terminal-access.js";
import { exitCodes } from "../exit-codes.js";
import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";
import { unknownOption, wrongUse } from "../verb-help.js";

export async function runImportCommand(words: readonly string[]): Promise<void> {
  ignoreBrokenPipe();
  const flags = words.filter((word) => word.startsWith("-"));
  const unknown = flags.find((flag) => flag !== "--yes");
  if (unknown !== undefined) throw unknownOption("import", unknown, ["--yes"]);
  const [name, ...more] = words.filter((word) => !word.startsWith("-"));
  const source = importSources.find((one) => one === name);
  if (!source || more.length > 0) throw wrongUse("import", `galley import takes one of ${importSources.join(", ")}.`);
  const agentDir = agentDirectory(process.env);
  const plan = await planImport(source, {
    home: homedir(),
    agentDir,
    builtInThemes: ["auto", ...Object.keys(builtInThemes)],
    themeProblem(text) {
      const read = readTheme(text);
      return "problem" in read ? read.problem : undefined;
    },
  });
  const count = plan.settings.length + plan.providers.length + plan.themes.length;
  print(planText(plan));
  if (count === 0) return print("There is nothing to copy.\n");
  const isAgreed = flags.includes("--yes") || (process.stdin.isTTY && (await asked()));
  if (!isAgreed) {
    print(`Nothing was written. To write it:  galley import ${source} --yes\n`);
    return;
  }
  try {
    await writeImport(plan, agentDir);
    print(`Copied into ${asUserWrites(agentDir)}\n`);
  } catch (error) {
    process.stderr.write(sanitizeForTerminal(`galley: ${messageOf(error)}\n`));
    process.exitCode = exitCodes.failed;
  }
}

function print(text: string): void {
  process.stdout.write(sanitizeForTerminal(text));
}

function planText({ from, settings, providers, themes, left }: ImportPlan): string {
  const block = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? "" : `${title}\n${lines.map((line) => `  ${line}\n`).join("")}`;
  const set = settings.map(({ key, member, value }) => {
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    return `${member === undefined ? key : `${key}.${member}`}: ${shown}`;
  });
  return [
    `From ${asUserWrites(from)}\n`,
    block("Settings, into config.yml:", set),
    block(
      "Models, into models.yml:",
      providers.map(({ id, value }) => `${id}${modelCount(value.models)}`),
    ),
    block(
      "Themes, into themes:",
      themes.map(({ name }) => name),
    ),
    block("Left:", left.map(leftLine)),
  ].join("");
}

function modelCount(models: unknown): string {
  return Array.isArray(models) ? ` (${models.length} model${models.length === 1 ? "" : "s"})` : "";
}

const reasons: Readonly<Record<LeftOut["why"], string>> = {
  yours: "galley has its own",
  unknown: "galley does not have it",
  yours_to_decide: "it names places or programs, or decides what is allowed: yours to set",
  unusable: "it cannot be used here",
};

function leftLine({ what, why, detail }: LeftOut): string {
  return `${what}: ${detail ?? reasons[why]}`;
}

/** On stderr: stdout may be read by a program. */
async function asked(): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question("Copy it? [y/N] ")).trim());
  } finally {
    terminal.close();
  }
}
