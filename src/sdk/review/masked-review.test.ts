import { expect, it } from "vitest";
import { createMask } from "../../base/secret-mask.js";
import { maskedReview } from "./masked-review.js";
import type { ReviewAction, ReviewChange, ReviewSource } from "./review-source.js";

const secret = "hush-hush-0123";
const file = {
  path: `a-${secret}`,
  kind: "modify",
  added: 1,
  removed: 0,
  hunks: 1,
  isStale: false,
  isProtected: false,
} as const;
const action: ReviewAction = {
  ...{ key: "pa_1", label: `Edit ${secret}`, sourceToolName: "edit", createdAt: 1, kind: "plan", status: "pending" },
  ...{ revision: 1, prompt: `Use ${secret}`, restsOn: [], lastError: `No ${secret}`, text: `+ ${secret}` },
  files: [{ ...file, shown: file.path, size: 1, sha256: "" }],
};
const hunk = { number: 1, oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: [`+${secret}`] };

const source = {
  actions: async () => [action],
  changes: async () => [{ label: `Edit ${secret}` } as ReviewChange],
  diff: async () => ({ revision: 1, files: [{ path: file.path, kind: "modify", hunks: [hunk] }] }),
} as unknown as ReviewSource;
const review = maskedReview(source, createMask([{ value: secret, name: "shop" }]));

it("shows no secret in labels, prompts, texts, names and lines", async () => {
  const [shown] = await review.actions();
  expect(shown).toMatchObject({
    ...{
      label: "Edit [secret:shop]",
      prompt: "Use [secret:shop]",
      text: "+ [secret:shop]",
      lastError: "No [secret:shop]",
    },
    files: [{ shown: "a-[secret:shop]" }],
  });
  expect(await review.changes()).toEqual([{ label: "Edit [secret:shop]" }]);
  expect((await review.diff({ action: "pa_1" })).files[0]?.hunks[0]?.lines).toEqual(["+[secret:shop]"]);
});

it("leaves the names by which is decided as they are", async () => {
  const [shown] = await review.actions();
  expect(shown?.files[0]?.path).toBe(file.path);
  expect((await review.diff({ action: "pa_1" })).files[0]?.path).toBe(file.path);
});
