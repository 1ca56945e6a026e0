// `set_event_filter`: a host names the session events it wants to hear. Answers, dialogs, calls of host tools and what
// becomes of prompts are no such events, and come in any case.

import type { Handler } from "../handler.js";

export const setEventFilter: Handler<"set_event_filter"> = ({ features, request }, { events }) => {
  features.filterEvents(events);
  request.succeed({ events }); // in the same step: what is filtered comes after the answer
  return { events };
};
