export class EventLaws {
  readonly problems: readonly string[];
  readonly runs: number;
  readonly settled: number;
  readonly isIdle: boolean;
  read(frame: { type: string }): this;
  end(): this;
}
