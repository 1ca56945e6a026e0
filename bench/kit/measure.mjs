// From samples to rows. Every row is one ratio: galley against a reference from the same run, both by their lower
// quartile, because what else runs on the machine only ever adds.

/**
 * Calls each subject in turn, round after round, so that a busy moment of the machine hits all of them.
 * Returns the results by the subjects' names.
 */
export async function alternate(rounds, subjects) {
  const results = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const [name, sample] of Object.entries(subjects)) results[name].push(await sample());
  return results;
}

/** `limit` is the largest ratio that counts as ok; a row without one is for information. */
export function row({ name, unit, samples, against, limit }) {
  const value = lowerQuartile(samples);
  const reference = lowerQuartile(against.samples);
  const ratio = value / reference;
  if (!Number.isFinite(ratio)) throw new Error(`${name}: cannot be measured (${value} against ${reference})`);
  return {
    name,
    unit,
    value,
    samples,
    against: { name: against.name, value: reference, samples: against.samples },
    ratio,
    limit,
    verdict: limit === undefined ? "-" : ratio <= limit ? "ok" : "over",
  };
}

export function pluck(samples, key) {
  return samples.map((sample) => sample[key]);
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Fails the measurement: what was not done right has no figure. */
export function expect(holds, problem) {
  if (!holds) throw new Error(problem);
}

/** Interpolated, so that few samples still have one. */
function lowerQuartile(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const place = (sorted.length - 1) / 4;
  const below = sorted[Math.floor(place)];
  return below + (sorted[Math.ceil(place)] - below) * (place % 1);
}
