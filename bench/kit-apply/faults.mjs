// What can go wrong with a change set, made to happen. Shared by the test and the long run.

export { buildJournalModule } from "./build.mjs";
export { measureCrowd } from "./crowd.mjs";
export { runRealKills } from "./kills.mjs";
export { runMutants } from "./mutants.mjs";
export { runFoldedNames, runFullDisks } from "./odd-disks.mjs";
export { runLongFile, runPreviews } from "./previews.mjs";
