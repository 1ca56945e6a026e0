// How model services word the two refusals that matter most. Used only if the response has no error code.

/** Rate limits. Some of these also say "too many tokens", so they are checked before an overflow. */
export const throttleText =
  /\b(?:tokens|requests)\b[^.]{0,40}\bper[ -](?:second|minute|hour|day)\b|\bthrottl(?:ed|ing)|\bplease wait before trying\b|\brate[ _-]limit|\btoo many requests\b/i;

/** The conversation does not fit the model. */
export const overflowText = new RegExp(
  [
    "prompt is too long",
    "exceeds the context window",
    "input token count.{0,80}exceeds the maximum",
    "maximum prompt length is \\d",
    "reduce the length of the messages",
    "maximum context length is [\\d,]+ tokens",
    "exceeds the limit of \\d",
    "exceeds the available context size",
    "greater than the context length",
    "context window exceeds limit",
    "exceeded model token limit",
    "context[_ ]length[_ ]exceeded",
    "too many tokens",
    "token limit exceeded",
    "request_too_large",
    "(?:payload|entity) too large",
    "\\b4(?:00|13)\\b.{0,40}\\(no body\\)",
    "model_context_window_exceeded",
  ].join("|"),
  "i",
);
