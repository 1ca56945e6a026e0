// What a host sees of a package on galley, held against what it sees on pi. Each kind is a list of sentences; an empty
// list is "the same". What each agent has without any package is left out, and so is what differs from run to run.

import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The part of a report that counts, without the agent's own tools and commands. */
export function essence(report, bare) {
  const own = new Set(bare.tools?.map(({ name }) => name));
  const ownCommands = new Set(bare.commands?.map(({ name }) => name));
  const tools = report.tools ?? [];
  return plain({
    failure: report.failure,
    loadErrors: loadErrors(report),
    tools: tools.filter((tool) => !own.has(tool.name)).map(described),
    // A package may offer a tool that one agent has already, in its place.
    names: tools.map(({ name }) => name),
    // Of the tools that both agents have: what a package took away, or put in the place of one.
    removed: shared.filter((name) => own.has(name) && !tools.some((tool) => tool.name === name)),
    replaced: shared.filter((name) => isReplaced(name, tools, bare.tools ?? [])),
    commands: report.commands
      ?.filter(({ name }) => !ownCommands.has(name))
      .map(({ name, source, description }) => [source, name, description?.trim().replaceAll(/\s+/g, " ")].join(" | "))
      .sort(),
    prompts: [report.read, report.bash].map(ofPrompt),
    file: report.file,
    shown: once([report.start, report.read?.asked, report.bash?.asked].flat()),
    calls: (report.calls ?? []).map((call) => ({ ...ofPrompt(call), texts: call.results?.map(({ text }) => text) })),
    ran: (report.ran ?? []).map((one) => ({ ...one, asked: once(one.asked) })),
    newSession: report.newSession,
    commandsAgain: report.commandsAgain?.length === report.commands?.length,
    toolsAgain: report.toolsAgain?.length === report.tools?.length,
    after: ofPrompt(report.after),
    shownAgain: once(report.afterNew),
    errors: (report.errors ?? []).map(({ event, error, line }) => line ?? `${event}: ${error}`),
  });
}

const shared = ["read", "bash", "edit", "write"];

function isReplaced(name, tools, bare) {
  const now = tools.find((tool) => tool.name === name);
  const then = bare.find((tool) => tool.name === name);
  return Boolean(now && then) && now.description !== then.description;
}

function described({ name, description, parameters }) {
  return { name, description, parameters: JSON.stringify(sorted(parameters)) };
}

function ofPrompt(prompt) {
  if (!prompt) return null;
  return {
    error: prompt.error,
    results: prompt.results?.map(({ toolName, isError }) => `${toolName} ${isError ? "failed" : "done"}`),
    added: prompt.added,
  };
}

/** What the user was shown, each thing once: the order depends on what is quicker, and pi 0.87 starts a new session twice. */
export function once(asked = []) {
  return [...new Set(plain(asked).map((one) => JSON.stringify(one)))].sort();
}

/** What either agent says of a package that it cannot load. */
function loadErrors({ stderr = "" }) {
  return stderr.split("\n").filter((line) => /failed to load extension|could not be loaded/i.test(line));
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** Without what differs from run to run: places, ids, times, colours. */
const here = dirname(fileURLToPath(import.meta.url));
const chance = [
  [/\/tmp\/[\w./-]+/g, "TEMPORARY"],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UUID"],
  [/(?<=-)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}\b/g, "UUID"],
  [/\d{4}-\d\d-\d\d[T_ -]\d\d[:-]\d\d[:-]\d\d[\d.Z-]*/g, "TIME"],
  [/\b\d{1,2}:\d\d(:\d\d)?\b( [AP]M)?/g, "TIME"],
  [/\b\d+(\.\d+)?( ?m?s)\b/g, "N$2"],
  [/\bpid[ :=]+\d+/gi, "PID"],
  [/\b(proc)_[0-9a-f]+/g, "$1"],
  [/\b(wall_time_seconds|chunk_id|output_bytes_total): [\w.]+/g, "$1"],
  [/\b[a-z]+-[a-z]+-[a-z0-9]{5}(?=\.md)/g, "NAME"],
  [/\[[a-z0-9]{6}\]|\([\w-]{10}\)/g, "ID"],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
  [/\u001b\[[\d;]*m/g, ""],
];

function plain(value) {
  if (typeof value === "string")
    return chance.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), value.replaceAll(here, "HERE"));
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

/** By kind: what differs. Both are essences. */
export function differences(pi, galley) {
  return {
    loads: [
      ...galley.loadErrors.filter(() => pi.loadErrors.length === 0),
      ...(galley.failure && !pi.failure ? [`galley: ${galley.failure}`] : []),
    ],
    offers: [
      ...byName("tool", pi, galley),
      ...lists("removed tools", pi.removed, galley.removed),
      ...lists("replaced tools", pi.replaced, galley.replaced),
      ...lists("commands", pi.commands ?? [], galley.commands ?? []),
    ],
    runs: [
      ...["prompts", "file", "calls", "ran"].flatMap((key) => apart(key, pi[key], galley[key])),
      ...lists("shown", pi.shown, galley.shown),
      ...lists("errors", pi.errors, galley.errors),
    ],
    newSession: [
      ...["newSession", "commandsAgain", "toolsAgain", "after"].flatMap((key) => apart(key, pi[key], galley[key])),
      ...lists("shown", pi.shownAgain, galley.shownAgain),
    ],
  };
}

function byName(what, one, other) {
  const names = new Set([...one.tools, ...other.tools].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [mine, theirs] = [one, other].map(({ tools }) => tools.find((tool) => tool.name === name));
    if (!theirs && other.names.includes(name)) return [];
    return apart(`${what} ${name}`, mine, theirs);
  });
}

function lists(what, ones, others) {
  const missing = ones.filter((item) => !others.includes(item)).map((item) => `${what}: only pi: ${item}`);
  const added = others.filter((item) => !ones.includes(item)).map((item) => `${what}: only galley: ${item}`);
  return [...missing, ...added];
}

function apart(path, one, other) {
  if (JSON.stringify(one) === JSON.stringify(other)) return [];
  const areObjects = [one, other].every((value) => typeof value === "object" && value !== null);
  if (!areObjects) return [`${path}: pi ${short(one)}, galley ${short(other)}`];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) => apart(`${path}.${key}`, one[key], other[key]));
}

/** The same with a digest in the place of each long text: what is recorded of pi. */
export function digested(value) {
  if (typeof value === "string" && value.length > 100) {
    const digest = createHash("sha256").update(value).digest("hex").slice(0, 12);
    return `${value.slice(0, 60)}… ${digest}`;
  }
  if (Array.isArray(value)) return value.map(digested);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, digested(item)]));
}

function short(value) {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
