// Where our own code is, for finding packages that are installed beside it. The program is CommonJS and the package's
// entry points are ES modules, so the location is read in two ways.

declare const __filename: string | undefined;

export function ownLocation(): string {
  return typeof __filename === "string" ? __filename : import.meta.url;
}
