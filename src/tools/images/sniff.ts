// The type of a file, from its first bytes and never from its name.

export function imageType(head: Uint8Array): string | undefined {
  const text = Buffer.from(head.subarray(0, 16)).toString("latin1");
  if (text.startsWith("\u0089PNG\r\n\u001a\n")) return "image/png";
  if (text.startsWith("\u00ff\u00d8\u00ff")) return "image/jpeg";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  return text.startsWith("RIFF") && text.startsWith("WEBP", 8) ? "image/webp" : undefined;
}
