// The first minute: what to try while no model is set up.

/** For a session that talks to the planner because nothing is configured. */
export const plannerWelcome: readonly string[] = [
  "No model key found. You are talking to galley's planner, which is not a language model.",
  "Three lines to try:",
  "  rename oldName to newName in src",
  "  find console.log($$$A)",
  "  help",
  "/login stores a key for a model; /tour shows preview, apply and undo in a scratch project.",
];
