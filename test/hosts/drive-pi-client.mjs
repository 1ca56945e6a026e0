// Runs in the box: a scripted model, and pi's own published client, which starts the program that it is given. Prints the
// shape of every answer and event as one JSON document: what a host that was written against pi can rely on.

import { pathToFileURL } from "node:url";
import { scriptedPlace } from "./scripted-place.mjs";

const [clientFile, cliPath, agentDir, cwd, thinks] = process.argv.slice(2);
const { RpcClient } = await import(pathToFileURL(clientFile).href);
await scriptedPlace({ agentDir, cwd, thinks, ids: ["scripted", "second"], more: ["A summary."] });

const client = new RpcClient({ cliPath, cwd, provider: "acme", model: "scripted" });
const [answers, events] = [{}, {}];
client.onEvent((event) => {
  events[event.type] ??= shapeOf(event, 1);
});

/** Objects by member, lists by their last item, everything else by its type; `depth` levels of it. */
function shapeOf(value, depth = 2) {
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  if (Array.isArray(value)) return depth > 0 && value.length > 0 ? [shapeOf(value.at(-1), depth - 1)] : "list";
  if (depth === 0) return "object";
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shapeOf(item, depth - 1)]));
}

async function ask(name, ...args) {
  const key = Object.keys(answers).includes(name) ? `${name} again` : name;
  try {
    const answer = await client[name](...args);
    answers[key] = { answer: shapeOf(answer) };
    return answer;
  } catch (error) {
    answers[key] = { error: error.message };
  }
}

await client.start();
await ask("getState");
await ask("getAvailableModels");
const levels = await ask("getAvailableThinkingLevels");
await ask("getLastAssistantText");
await ask("promptAndWait", "What is in a.txt?");
await ask("getLastAssistantText");
for (const name of ["getMessages", "getEntries", "getTree", "getSessionStats", "getCommands"]) await ask(name);
const [question] = await ask("getForkMessages");
await ask("setThinkingLevel", "max");
await ask("setThinkingLevel", "enormous");
const { thinkingLevel } = await ask("getState");
await ask("cycleThinkingLevel");
await ask("setModel", "acme", "second");
await ask("setModel", "acme", "none");
await ask("cycleModel");
for (const name of ["setSteeringMode", "setFollowUpMode"]) await ask(name, "all");
for (const name of ["setAutoCompaction", "setAutoRetry"]) await ask(name, false);
for (const name of ["abortRetry", "abortBash", "abort"]) await ask(name);
await ask("bash", "echo hi");
await ask("setSessionName", "A name");
await ask("exportHtml", `${cwd}/page-${process.pid}-${Date.now()}.html`); // never a page of the other agent
await ask("fork", question.entryId);
await ask("promptAndWait", "And again?");
await ask("clone");
await ask("compact");
const { sessionFile } = await ask("getState");
await ask("newSession");
await ask("switchSession", sessionFile);
await ask("steer", "Hurry.");
await client.stop();
console.log(JSON.stringify({ answers, events, levels, thinkingLevel }));
process.exit(0);
