// SHA-256 of bytes. node:crypto is loaded when the first digest is asked for, so that a program which only prints its
// version or its help does not wait for it.

export function sha256Of(content: string | Uint8Array): string {
  return process.getBuiltinModule("node:crypto").hash("sha256", content, "hex");
}
