// A module for each thing that published extensions were found to need. Each registers a tool that says what it got.

const tool = (name: string, work: string) =>
  `pi.registerTool({ name: "${name}", description: "Says what it got", approval: "read", parameters: { type: "object" },
  execute: async (id, params, signal, onUpdate, ctx) => ({ content: [{ type: "text", text: String(await (${work})) }] }) });`;

export const compatibleModules: Readonly<Record<string, string>> = {
  "type.ts": `import { Type } from "@mariozechner/pi-ai";
const parameters = Type.Object({ word: Type.Optional(Type.String()) });
export default (pi) => { ${tool("a_type", "parameters.properties.word.type")} };`,
  "options.ts": `let got = {};
export default (pi) => {
  pi.on("before_agent_start", ({ systemPromptOptions }) => { got = systemPromptOptions; });
  ${tool("b_options", "[typeof got.cwd, got.selectedTools.includes('read'), got.contextFiles.map(({ content }) => content.trim()), got.skills.map(({ name }) => name)]")}
};`,
  "thinking.ts": `export default (pi) => {
  pi.registerAssistantThinkingRenderer((message, options, theme) => undefined);
  ${tool("c_thinking", "'registered'")}
};`,
  "bash.ts": `import { createBashTool } from "@mariozechner/pi-coding-agent";
export default (pi) => {
  const spawnHook = ({ command, cwd, env }) => ({ command: command + "; echo $WORD", cwd, env: { ...env, WORD: "hooked" } });
  const bash = createBashTool(pi.cwd, { commandPrefix: "said=prefixed", spawnHook });
  ${tool("d_bash", 'bash.execute(id, { command: "echo $said" }, signal, onUpdate, ctx).then(({ content }) => content[0].text.trim().replace("\\n", " "))')}
};`,
  "operations.ts": `import { createBashToolDefinition, createReadToolDefinition } from "@earendil-works/pi-coding-agent";
const exec = async (command, cwd, { onData }) => { onData(Buffer.from("over there: " + command)); return { exitCode: 0 }; };
const files = { readFile: async (path) => Buffer.from("text of " + path.split("/").at(-1)), access: async () => {} };
export default (pi) => {
  const text = ({ content }) => content[0].text;
  const bash = createBashToolDefinition(pi.cwd, { operations: { exec } });
  const read = createReadToolDefinition(pi.cwd, { operations: files });
  ${tool("e_operations", 'Promise.all([bash.execute(id, { command: "ls" }, signal, onUpdate, ctx).then(text), read.execute(id, { path: "a.txt" }, signal, onUpdate, ctx).then(text)])')}
};`,
  "name.ts": `import { CONFIG_DIR_NAME } from "@mariozechner/pi-coding-agent";
export default (pi) => { ${tool("f_name", "CONFIG_DIR_NAME")} };`,
};

/** What the tools say, by name. The project has an AGENTS.md, and the user a skill. */
export const compatibleResults: Readonly<Record<string, string>> = {
  a_type: "string",
  b_options: "string,true,Be kind.,notes",
  c_thinking: "registered",
  d_bash: "prefixed hooked",
  e_operations: "over there: ls,text of a.txt",
  f_name: ".galley",
};

export const compatibleFiles = {
  "project/AGENTS.md": "Be kind.\n",
  ".galley/agent/skills/notes/SKILL.md": "---\nname: notes\ndescription: Keeps notes\n---\nWrite them down.\n",
};
