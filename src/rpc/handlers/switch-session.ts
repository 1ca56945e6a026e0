// `switch_session` and `get_messages`. A switch is answered when the file is ours; its entries are read when somebody asks
// for them, or when nothing else is to be done. What hosts ask for next is the messages, and those of a conversation that
// runs straight on are in the file word for word.

import { type AnsweringHandler, answered, type Handler, type HandlerContext } from "../handler.js";

/** A host that wants the messages has asked for them by then. */
const quietMs = 10;

export const switchSession: Handler<"switch_session"> = async (context, { sessionPath }) => {
  const { session, clock } = context;
  const isDone = await session.switchSession(sessionPath, { mayStayUnread: true });
  if (isDone) {
    session.messagesAsWritten(); // the host waits anyway, and this is what it wants next
    clock.after(quietMs, () => readWhenQuiet(context));
  }
  return { cancelled: !isDone };
};

export const getMessages: AnsweringHandler<"get_messages"> = async (context) => {
  const { session, request } = context;
  const written = session.messagesAsWritten();
  if (written === undefined) return { messages: await session.withImages(session.messages) };
  request.succeedWith("messages", written.json, written.bytes);
  readWhenQuiet(context);
  return answered;
};

/** Not before the host has what was written for it: reading takes all our time. */
function readWhenQuiet({ session, outbox }: HandlerContext): void {
  void outbox
    .flushed()
    .then(() => session.readOn())
    .catch(() => {}); // what is wrong is told to the next command, which reads it again
}
