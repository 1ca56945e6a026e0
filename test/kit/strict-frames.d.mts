export class StrictReader {
  constructor(options?: { expectReady?: boolean; onJoined?: (frame: { type: string }) => void });
  readonly problems: readonly string[];
  readonly unlisted: ReadonlySet<string>;
  read(line: string): string | undefined;
  verify(): void;
}
