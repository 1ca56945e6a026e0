// The blocks that users, tools and extensions may say: text and pictures.

import type { InputContent } from "../protocol/content.js";
import type { Renderer } from "./renderer.js";

/** `write` says how text is shown. */
export async function renderContent(
  content: string | readonly InputContent[],
  renderer: Renderer,
  write: (text: unknown) => string,
): Promise<string> {
  if (typeof content === "string") return content === "" ? "" : write(content);
  let html = "";
  for (const block of content) {
    if (block.type === "image") html += await renderer.image(block);
    else if (block.text !== "") html += write(block.text);
  }
  return html;
}
