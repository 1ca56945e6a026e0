// What a project can try, made to happen. Shared by the test and the long run.

export { buildTrustModule } from "./build.mjs";
export { kindNames, runHostile } from "./hostile.mjs";
export { runMutations } from "./mutations.mjs";
export { hasStrace } from "./trace.mjs";
