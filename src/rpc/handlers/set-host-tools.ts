// `set_host_tools`: the tools that the host lends; they replace the ones before. Either all of them are accepted, or
// nothing changes.

import type { Handler } from "../handler.js";
import { readHostTools } from "../host-tool-definitions.js";

export const setHostTools: Handler<"set_host_tools"> = ({ session, hostTools }, { tools }) => {
  const definitions = readHostTools(tools);
  session.setHostTools(
    definitions.map((definition) => ({ tool: hostTools.toolFor(definition), startsActive: !definition.hidden })),
  );
  hostTools.lend(definitions);
  return { toolNames: definitions.map(({ name }) => name) };
};
