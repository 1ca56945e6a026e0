// What a host sees of a package on galley, held against what it sees on pi. Each kind is a list of sentences; an empty
// list is "the same". What each agent has without any package is left out, and so is what differs from run to run.

/** The part of a report that counts, without the agent's own tools and commands. */
export function essence(report, bare) {
  const own = new Set(bare.tools?.map(({ name }) => name));
  const ownCommands = new Set(bare.commands?.map(({ name }) => name));
  const tools = report.tools ?? [];
  const before = bare.tools?.find(({ name }) => name === "bash");
  return plain({
    failure: report.failure,
    loadErrors: loadErrors(report),
    tools: tools.filter((tool) => !own.has(tool.name)).map(described),
    // Of the tools that both agents have: what a package took away, or put in the place of one.
    removed: shared.filter((name) => own.has(name) && !tools.some((tool) => tool.name === name)),
    replaced: shared.filter((name) => isReplaced(name, tools, bare.tools ?? [])),
    commands: report.commands?.filter(({ name }) => !ownCommands.has(name)).map(({ name, source, description }) => [source, name, description].join(" | ")).sort(),
    prompts: [report.read, report.bash].map(ofPrompt),
    file: report.file,
    start: report.start,
    calls: (report.calls ?? []).map((call) => ({ ...ofPrompt(call), texts: call.results?.map(({ text }) => text) })),
    ran: report.ran ?? [],
    newSession: report.newSession,
    commandsAgain: report.commandsAgain?.length === report.commands?.length,
    toolsAgain: report.toolsAgain?.length === report.tools?.length,
    after: ofPrompt(report.after),
    afterNew: report.afterNew,
    errors: (report.errors ?? []).map(({ event, error, line }) => line ?? `${event}: ${error}`),
    before: before && undefined,
  });
}

const shared = ["read", "bash", "edit", "write"];

function isReplaced(name, tools, bare) {
  const now = tools.find((tool) => tool.name === name);
  const then = bare.find((tool) => tool.name === name);
  return Boolean(now && then) && now.description !== then.description;
}

function described({ name, description, parameters }) {
  return { name, description, parameters: sorted(parameters) };
}

function ofPrompt(prompt) {
  if (!prompt) return null;
  return { error: prompt.error, results: prompt.results?.map(({ toolName, isError }) => `${toolName} ${isError ? "failed" : "done"}`), added: prompt.added, asked: prompt.asked };
}

/** What either agent says of a package that it cannot load. */
function loadErrors({ stderr = "" }) {
  return stderr.split("\n").filter((line) => /failed to load|could not be loaded|cannot be loaded/i.test(line));
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

/** Without what differs from run to run. */
function plain(value) {
  const text = JSON.stringify(value)
    .replaceAll(/\/[\w/.-]*galley-test-package-\w+/g, "~")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UUID")
    .replaceAll(/\d{4}-\d\d-\d\d[T_ -]\d\d[:-]\d\d[:-]\d\d[\d.Z-]*/g, "TIME")
    .replaceAll(/\b\d{1,2}:\d\d(:\d\d)?\b( [AP]M)?/g, "TIME")
    .replaceAll(/\b\d+(\.\d+)?( ?m?s)\b/g, "N$2")
    .replaceAll(/\bpid[ :=]+\d+/gi, "PID")
    .replaceAll(/\\u001b\[[\d;]*m/g, "");
  return JSON.parse(text);
}

/** By kind: what differs. Both are essences. */
export function differences(pi, galley) {
  return {
    loads: [
      ...galley.loadErrors.filter(() => pi.loadErrors.length === 0),
      ...(galley.failure && !pi.failure ? [`galley: ${galley.failure}`] : []),
    ],
    offers: [
      ...byName("tool", pi.tools, galley.tools),
      ...lists("removed tools", pi.removed, galley.removed),
      ...lists("replaced tools", pi.replaced, galley.replaced),
      ...lists("commands", pi.commands ?? [], galley.commands ?? []),
    ],
    runs: [
      ...["start", "prompts", "file", "calls", "ran"].flatMap((key) => apart(key, pi[key], galley[key])),
      ...lists("errors", pi.errors, galley.errors),
    ],
    newSession: ["newSession", "commandsAgain", "toolsAgain", "after", "afterNew"].flatMap((key) => apart(key, pi[key], galley[key])),
  };
}

function byName(what, ones, others) {
  const names = new Set([...ones, ...others].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [one, other] = [ones, others].map((list) => list.find((item) => item.name === name));
    return apart(`${what} ${name}`, one, other);
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

function short(value) {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
