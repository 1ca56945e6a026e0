// A custom tool that counts the words of a file. As a module for galley, it is loaded with
// galley -p --tool examples/testing/word-count.mjs 'How many words does README.md have?'

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

// biome-ignore lint/style/noDefaultExport: this is how a module hands over its factory
export default (pi) => ({
  name: "word_count",
  label: "Word count",
  description: "Counts the words of a file",
  approval: "read",
  parameters: {
    type: "object",
    properties: { path: { type: "string", description: "The file" } },
    required: ["path"],
  },
  async execute(_toolCallId, { path }) {
    const text = await readFile(resolve(pi.cwd, path), "utf8").catch(() => {
      throw new Error(`Cannot read ${path}. Give the path of a text file.`);
    });
    const words = text.split(/\s+/).filter(Boolean).length;
    return { content: [{ type: "text", text: `${words} words` }], details: { words } };
  },
});
