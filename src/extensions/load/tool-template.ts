// The first version of a new tool: a module that works as it stands and shows the parts that most tools need.

import { GalleyError } from "../../base/errors.js";

/** Throws `usage` for a name that no model accepts. */
export function toolTemplate(name: string) {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    throw new GalleyError("usage", `"${name}" is not a valid tool name: use 1 to 64 letters, digits, "_" or "-".`);
  const words = name.split(/[_-]+/).filter(Boolean).join(" ");
  const label = words === "" ? name : `${words[0]?.toUpperCase()}${words.slice(1)}`;
  return { fileName: `${name}.ts`, text: templateText(name, label) };
}

function templateText(name: string, label: string): string {
  return `import type { CustomToolFactory } from "galley";

const factory: CustomToolFactory = (pi) => ({
  name: "${name}",
  label: "${label}",
  description: "Says what it was given, in capitals. Replace this by what a model should know of the tool.",
  // What a call may cause: "read", "write" or "exec".
  approval: "read",
  parameters: pi.zod.object({
    text: pi.zod.string().describe("What to say"),
  }),
  async execute(_toolCallId, params, onUpdate, _ctx, signal) {
    onUpdate?.({ content: [{ type: "text", text: "Working" }] });
    // Throw to fail: the model reads the sentence.
    if (signal?.aborted) throw new Error("Stopped before it began.");
    return { content: [{ type: "text", text: params.text.toUpperCase() }], details: { length: params.text.length } };
  },
});

export default factory;
`;
}
