// Whether the text of a model is Markdown, for hosts that lay it out.

import { capabilitiesOf } from "../provider/capabilities.js";

/** The planner repeats what tools told, code with its backquotes and stars: laid out, they would be lost. */
export function writesMarkdown({ api }: { readonly api: string }): boolean {
  return capabilitiesOf({ api }).isLanguageModel;
}
