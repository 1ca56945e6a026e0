// Diagnostics as a capability. They go to stderr or a file, never to stdout: stdout belongs to frames.

export interface Log {
  warn(text: string): void;
  error(text: string, cause?: unknown): void;
  /** Details that are not worth a warning; absent where debug output is off. */
  trace?(level: "debug" | "info", text: string): void;
}

export const silentLog: Log = { warn() {}, error() {} };

export function logTo(write: (line: string) => void): Log {
  return {
    warn: (text) => write(`galley: ${text}\n`),
    error(text, cause) {
      const stack = cause instanceof Error ? (cause.stack ?? cause.message) : cause === undefined ? "" : String(cause);
      write(`galley: ${text}${stack && `\n${stack}`}\n`);
    },
  };
}
