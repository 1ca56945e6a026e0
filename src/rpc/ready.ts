// The first frame. In a file of its own without heavy imports, so that it can be sent before anything else loads.

import type { ReadyFrame } from "../protocol/frames.js";
import { knownFeatures } from "./features.js";
import { maxFrameBytes, maxReassembledFrameBytes } from "./frame-chunks.js";

declare const GALLEY_VERSION: string;

export function readyFrame(): ReadyFrame {
  return {
    type: "ready",
    version: GALLEY_VERSION,
    protocolVersion: 1,
    supportedProtocolVersions: [1, 2],
    maxFrameBytes,
    maxReassembledFrameBytes,
    features: [...knownFeatures],
  };
}
