// The first frame. In a file of its own without imports of weight, so that it can be sent before anything else loads.

import type { ReadyFrame } from "../protocol/frames.js";
import { knownFeatures } from "./features.js";

declare const GALLEY_VERSION: string;

/** Version 2 is announced once all of it is here; until then its features can be negotiated one by one. */
export function readyFrame(): ReadyFrame {
  return {
    type: "ready",
    version: GALLEY_VERSION,
    protocolVersion: 1,
    supportedProtocolVersions: [1],
    maxFrameBytes: 1_048_576,
    maxReassembledFrameBytes: 67_108_864,
    features: [...knownFeatures],
  };
}
