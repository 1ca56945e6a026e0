// A sink that remembers, and processes that do what a test says.

import { whenAborted } from "../../base/abort.js";
import type { ProcessEnd, Processes, ProcessRequest } from "../../processes/processes.js";
import type { ArtifactSink } from "../tool.js";

export interface RecordingSink extends ArtifactSink {
  /** By artifact: what was written, and whether it was closed. */
  readonly artifacts: { toolName: string; chunks: Buffer[]; isClosed: boolean }[];
  bytes(id: string): Buffer;
}

export function recordingSink({ keepsBytes = true } = {}): RecordingSink & { writtenBytes: number } {
  const sink = {
    artifacts: [] as RecordingSink["artifacts"],
    writtenBytes: 0,
    bytes: (id: string) => Buffer.concat(sink.artifacts[Number(id) - 1]?.chunks ?? []),
    async open(toolName: string) {
      const artifact = { toolName, chunks: [] as Buffer[], isClosed: false };
      return {
        id: `${sink.artifacts.push(artifact)}`,
        async write(bytes: Uint8Array) {
          if (artifact.isClosed) throw new Error("written after close");
          sink.writtenBytes += bytes.length;
          if (keepsBytes) artifact.chunks.push(Buffer.from(bytes));
        },
        async close() {
          artifact.isClosed = true;
        },
      };
    },
  };
  return sink;
}

export interface ScriptedChild {
  readonly request: ProcessRequest;
  print(output: string | Uint8Array, stream?: "stdout" | "stderr"): Promise<void>;
  /** Resolves when the child is asked to stop. */
  readonly stopped: Promise<void>;
}

export function scriptedProcesses(
  play: (child: ScriptedChild) => ProcessEnd | Promise<ProcessEnd>,
): Processes & { readonly requests: ProcessRequest[] } {
  const requests: ProcessRequest[] = [];
  return {
    requests,
    async run(request) {
      requests.push(request);
      const stop = whenAborted(request.signal ?? new AbortController().signal);
      try {
        return await play({
          request,
          print: async (output, stream = "stdout") => request.onOutput?.(Buffer.from(output), stream),
          stopped: stop.promise,
        });
      } finally {
        stop.release();
      }
    },
    shutdown: async () => {},
  };
}
