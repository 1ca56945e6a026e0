// What can go wrong with child processes, made to happen. Shared by the test and the long run.

export { buildProcessesModule } from "./processes-build.mjs";
export { measureCost } from "./processes-cost.mjs";
export { exhaustDescriptors, runFlood, runForkBomb } from "./processes-floods.mjs";
export { runGalleyKills } from "./processes-kills.mjs";
export { runStops } from "./processes-stops.mjs";
