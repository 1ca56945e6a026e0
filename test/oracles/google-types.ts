// Holds request bodies against the types of Google's own client: the compiler reads each as a literal, so that a field
// with a wrong name is an error like one with a wrong value.

import { compile } from "./check-types.js";

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
  const literals = bodies.map((body, index) => `export const body${index}: Body = ${JSON.stringify(body, null, 1)};\n`);
  return compile([declarations + literals.join("")]);
}
