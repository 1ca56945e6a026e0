// The todo list of a session, as hosts read and write it.

import Type, { type Static } from "typebox";

export const TodoStatus = Type.Union(
  [Type.Literal("pending"), Type.Literal("in_progress"), Type.Literal("completed"), Type.Literal("abandoned")],
  { expectation: "one of pending, in_progress, completed, abandoned" },
);
export type TodoStatus = Static<typeof TodoStatus>;

export const TodoTask = Type.Object({
  id: Type.String(),
  content: Type.String(),
  status: TodoStatus,
  notes: Type.Optional(Type.String()),
  details: Type.Optional(Type.String()),
});
export type TodoTask = Static<typeof TodoTask>;

export const TodoPhase = Type.Object({
  id: Type.String(),
  name: Type.String(),
  tasks: Type.Array(TodoTask),
});
export type TodoPhase = Static<typeof TodoPhase>;

const nonEmpty = { pattern: "\\S", expectation: "a non-empty string" };
const text = { expectation: "a string" };

/** What a host may send: ids and status may be missing and are filled in. */
export const TodoPhaseInput = Type.Object(
  {
    id: Type.Optional(Type.String(text)),
    name: Type.String(nonEmpty),
    tasks: Type.Optional(
      Type.Array(
        Type.Object(
          {
            id: Type.Optional(Type.String(text)),
            content: Type.String(nonEmpty),
            status: Type.Optional(TodoStatus),
            notes: Type.Optional(Type.String(text)),
            details: Type.Optional(Type.String(text)),
          },
          { expectation: "an object" },
        ),
        { expectation: "an array" },
      ),
    ),
  },
  { expectation: "an object" },
);
export type TodoPhaseInput = Static<typeof TodoPhaseInput>;
