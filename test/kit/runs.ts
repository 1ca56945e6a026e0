// Tests that try many inputs have two forms with the same assertions: a short one in `npm test`, and all of it in
// `npm run test:long`, which runs the files that import this one. .ci/run calls both.

export const isLong = process.env.GALLEY_TEST_LONG === "1";

/** How often to try: all of it, or a sixth. */
export function runs(all: number): number {
  return isLong ? all : Math.ceil(all / 6);
}
