// A look that many events ask for: one at a time, and one more for all that happened meanwhile. So an older answer never
// comes last, and a hundred events cost two looks.

/** `look` must not reject. */
export function oneAtATime(look: () => Promise<void>): () => void {
  let state: "idle" | "looking" | "again" = "idle";
  const ask = (): void => {
    if (state !== "idle") {
      state = "again";
      return;
    }
    state = "looking";
    void look().then(() => {
      const isWanted = state === "again";
      state = "idle";
      if (isWanted) ask();
    });
  };
  return ask;
}
