// What can go wrong with session files, made to happen. Shared by the test and the long run.

export { buildSessionModule } from "./build.mjs";
export { runContention } from "./contention.mjs";
export { readGiantLine, runCorruptions, runCuts } from "./damage.mjs";
export { runKills } from "./kills.mjs";
