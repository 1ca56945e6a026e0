// What is under review, without known secrets in what is shown. Names by which things are decided stay as they are, and so
// does what is applied; a hunk that shows a mask is refused by the engine when it is edited.

import { maskDeep, type TextMask } from "../../base/text-mask.js";
import type { ReviewAction, ReviewSource } from "./review-source.js";

export function maskedReview(source: ReviewSource, secrets: TextMask): ReviewSource {
  const { mask } = secrets;
  return {
    ...source,
    actions: async () => (await source.actions()).map((action) => maskedAction(action, mask)),
    changes: async () => maskDeep(await source.changes(), mask),
    async diff(of) {
      const { files, ...diff } = await source.diff(of);
      return { ...diff, files: files.map((file) => ({ ...file, hunks: maskDeep(file.hunks, mask) })) };
    },
  };
}

function maskedAction(action: ReviewAction, mask: TextMask["mask"]): ReviewAction {
  const { label, prompt, text, lastError, files } = action;
  return {
    ...action,
    label: mask(label),
    prompt: mask(prompt),
    text: mask(text),
    ...(lastError === undefined ? {} : { lastError: mask(lastError) }),
    files: files.map((file) => ({ ...file, shown: mask(file.shown) })),
  };
}
