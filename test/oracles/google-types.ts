// Holds request bodies against the types of Google's own client: the compiler reads each as a literal, so that a field
// with a wrong name is an error like one with a wrong value.

import { spawnSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../kit/run-galley.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

const declarations = `
import type { Content, GenerationConfig, Tool, ToolConfig } from "@google/genai";
/** On the wire a member of an enumeration is its word. */
type Wire<T> = T extends string ? \`\${T}\` : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;
export type Body = Wire<{
  contents: Content[];
  systemInstruction?: Content;
  tools?: Tool[];
  toolConfig?: ToolConfig;
  generationConfig?: GenerationConfig;
}>;
`;

/** What the compiler says; empty when every body fits. */
export function googleTypeProblems(bodies: readonly unknown[]): string {
  const place = temporaryDirectory();
  symlinkSync(join(projectRoot, "test/oracles/node_modules"), join(place, "node_modules"));
  const literals = bodies.map((body, index) => `export const body${index}: Body = ${JSON.stringify(body, null, 1)};\n`);
  writeFileSync(join(place, "bodies.ts"), declarations + literals.join(""));
  const options = "--strict --module esnext --moduleResolution bundler --target es2022 --skipLibCheck --noEmit";
  const tsc = join(projectRoot, "node_modules/.bin/tsc");
  const { stdout } = spawnSync(tsc, [...options.split(" "), "--types", "", "bodies.ts"], {
    cwd: place,
    encoding: "utf8",
  });
  return stdout;
}
