export function runViewKills(options: {
  /** What `buildLayerModule` answered. */
  module: string;
  /** For scratch files; the caller removes it. */
  directory: string;
  count: number;
  seed: number;
  /** Whom the stand-ins run as, in turn. Default: the user of this process. */
  uids?: readonly (number | undefined)[];
}): Promise<{
  kills: number;
  /** Not killed: it had ended before. */
  toTheEnd: number;
  resumed: number;
  torn: number;
  survivors: number;
  mountsLeft: number;
  layersLeft: number;
  otherwise: number;
  problems: string[];
}>;
