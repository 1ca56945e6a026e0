// The door `galley/client`: what a TypeScript host uses to drive the agent.

export { RpcClient, type RpcClientOptions, RpcError } from "./rpc-client.js";
