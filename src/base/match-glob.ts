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

/** A relative path, with `**` for any number of folders and `{a,b}` besides. At most path times pattern as well. */
export function matchesPathGlob(path: string, glob: string): boolean {
  return withoutBraces(glob).some((one) => matchesSteps(path.split("/"), one.replace(/^(?:\.\/)+/, "").split("/")));
}

function matchesSteps(path: readonly string[], glob: readonly string[]): boolean {
  let [at, next, stars, resume] = [0, 0, -1, 0];
  while (at < path.length) {
    const step = glob[next];
    if (step === "**") [stars, resume] = [next++, at];
    else if (step !== undefined && matchesGlob(path[at] as string, step)) [at, next] = [at + 1, next + 1];
    else if (stars >= 0) [next, at] = [stars + 1, ++resume];
    else return false;
  }
  return glob.slice(next).every((step) => step === "**");
}

const maxAlternatives = 64;

function withoutBraces(glob: string): string[] {
  let globs = [glob];
  for (let done = false; !done && globs.length < maxAlternatives; ) {
    const next = globs.flatMap((one) => {
      const [, head = "", words, tail = ""] = /^([^{]*)\{([^{}]*)\}(.*)$/s.exec(one) ?? [];
      return words === undefined ? [one] : words.split(",", maxAlternatives).map((word) => head + word + tail);
    });
    done = next.length === globs.length;
    globs = next;
  }
  return globs.slice(0, maxAlternatives);
}
