export interface Escape {
  readonly name: string;
}
export const escapes: readonly Escape[];
export const shortEscapes: readonly Escape[];
