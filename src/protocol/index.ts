// The door `galley/protocol`: every shape that crosses the pipe or rests in a session file, as schemas and as types.

export * from "./commands.js";
export * from "./content.js";
export * from "./data.js";
export * from "./diff.js";
export * from "./entries.js";
export * from "./events.js";
export * from "./frames.js";
export * from "./messages.js";
export * from "./model.js";
export * from "./pending.js";
export * from "./todos.js";
