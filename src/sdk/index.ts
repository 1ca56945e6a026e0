// The package entry `galley`: everything a program needs to hold a session in its own process.

export {
  type CreateAgentSessionOptions,
  type CreateAgentSessionResult,
  createAgentSession,
} from "./create-agent-session.js";
export * from "./exports.js";
export { discoverAndLoadCustomTools, discoverCustomToolPaths, loadCustomTools } from "./extensions/load-tools.js";
