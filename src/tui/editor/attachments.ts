// Images that go with the text: each has a mark in it, and goes along as long as its mark is there.

import { oneLine } from "../../base/sanitize.js";
import type { ImageContent } from "../../protocol/content.js";

export class Attachments {
  readonly #images = new Map<string, ImageContent>();
  #count = 0;

  /** Returns the mark that stands for it in the text. */
  add(name: string, image: ImageContent): string {
    const mark = `[image #${++this.#count}: ${oneLine(name, 60).replaceAll("]", ")")}]`;
    this.#images.set(mark, image);
    return mark;
  }

  /** Those whose mark is in the text, in its order. Marks stay valid: the text may come back into the editor. */
  in(text: string): ImageContent[] {
    return [...this.#images]
      .map(([mark, image]) => ({ at: text.indexOf(mark), image }))
      .filter(({ at }) => at !== -1)
      .sort((a, b) => a.at - b.at)
      .map(({ image }) => image);
  }
}

/** The path that a paste consists of, if it looks like that of an image: terminals quote it when a file is dropped. */
export function imagePath(pasted: string): string | undefined {
  const line = pasted.trim();
  if (line === "" || line.includes("\n")) return undefined;
  const [, quoted] = /^(?:'([^']*)'|"([^"]*)")$/.exec(line)?.filter((part) => part !== undefined) ?? [];
  const path = (quoted ?? line.replace(/\\(.)/g, "$1")).replace(/^file:\/\//, "");
  return /\.(?:png|jpe?g|gif|webp)$/i.test(path) ? path : undefined;
}
