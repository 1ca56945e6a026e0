// `set_access`: the host changes what the agent may do, from the next call on, and is told what holds then.

import type { Handler } from "../handler.js";

export const setAccess: Handler<"set_access"> = async ({ session }, { access }) => {
  session.setAccess(access);
  await session.learnSandbox();
  return { access: session.access, staging: session.staging, sandbox: session.sandbox };
};
