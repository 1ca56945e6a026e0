// While every change waits for review, a call that the view cannot hold would bypass it: it runs only with the user's
// permission. What the model reads where there is none.

export const bypassText = "Refused: commands bypass staging. Use --allow-exec to permit them.";
export const declinedText =
  "Refused: commands bypass staging, and the user did not allow this one. Go on without it, or ask what to do instead.";
