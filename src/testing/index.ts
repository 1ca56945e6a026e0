// The door `galley/testing`: the fakes that galley is tested with, for tests of tools, hosts and providers.

export { type ManualClock, manualClock } from "./manual-clock.js";
export { createMemoryWorkspace } from "./memory-workspace.js";
export { type OpenSession, type OpenSessionOptions, openSession, scriptedProviderModel } from "./open-session.js";
export { type Played, play } from "./play.js";
export { google } from "./scripted-google.js";
export * from "./scripted-model.js";
export * from "./scripted-replies.js";
export { openAiResponses, type ScriptedItem } from "./scripted-responses.js";
export * from "./scripted-server.js";
export { parseTranscript, playTranscript, type Transcript, type TranscriptPeer } from "./transcript.js";
