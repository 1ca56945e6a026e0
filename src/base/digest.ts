// SHA-256 of bytes. node:crypto is loaded when the first digest is asked for: most sessions start without one, and the
// module takes as long as everything else on the way to the first answer.

export function sha256Of(content: string | Uint8Array): string {
  return process.getBuiltinModule("node:crypto").hash("sha256", content, "hex");
}
