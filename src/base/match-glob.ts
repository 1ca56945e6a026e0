// Matches names against patterns with `*` and `?`.

/** Goes back to the last `*` only, so it costs at most text times pattern, whatever the pattern. */
export function matchesGlob(text: string, glob: string): boolean {
  let [at, next, star, resume] = [0, 0, -1, 0];
  while (at < text.length) {
    if (glob[next] === "*") [star, resume] = [next++, at];
    else if (next < glob.length && (glob[next] === "?" || glob[next] === text[at])) [at, next] = [at + 1, next + 1];
    else if (star >= 0) [next, at] = [star + 1, ++resume];
    else return false;
  }
  return /^\**$/.test(glob.slice(next));
}
