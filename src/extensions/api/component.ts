/** What tools and extensions draw with: anything that renders to lines of a width. */
export interface Component {
  render(width: number): string[];
  invalidate?(): void;
  handleInput?(data: string): void;
  dispose?(): void;
  wantsKeyRelease?: boolean;
}
