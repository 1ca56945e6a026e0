// Where our own code lies, for finding packages that are installed beside it: the program is CommonJS, the doors are ES
// modules, and each says it in its own way.

declare const __filename: string | undefined;

export function ownLocation(): string {
  return typeof __filename === "string" ? __filename : import.meta.url;
}
