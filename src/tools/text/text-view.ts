// A file's text as a model means it: no byte order mark, every line ending LF. Places in that view lead back to the
// bytes of the file, so a change can be found in the view and made in the file, and nothing else is touched.

export interface TextView {
  readonly bytes: Buffer;
  /** Where in the file the view's byte stands. A CRLF is one byte here; its place is that of the CR. */
  offsetOf(position: number): number;
  /** A model's text in the form of the view. */
  encode(text: string): Buffer;
  /** What stands for a line ending in these bytes of the file, in order. */
  endingsIn(bytes: Buffer): string[];
  /** The first ending at or behind a place of the file, else the file's last one. Cheap when asked in ascending order. */
  endingNear(offset: number): string | undefined;
}

const LF = 0x0a;
const CR = 0x0d;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

export function hasByteOrderMark(bytes: Buffer): boolean {
  return bytes.subarray(0, 3).equals(byteOrderMark);
}

/** The two marks of UTF-16, the only texts with which a view by bytes would be wrong. */
export function isUtf16(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

export function viewOf(file: Buffer): TextView {
  const start = hasByteOrderMark(file) ? byteOrderMark.length : 0;
  // A CR by itself ends a line only where nothing else does, as on old Macs; beside LF it is a character like others.
  const isCrOnly = !file.includes(LF) && file.includes(CR);
  const { bytes, shortened } = isCrOnly ? crAsLf(file.subarray(start)) : crlfAsLf(file.subarray(start));
  const endings = isCrOnly ? /\r/g : /\r?\n/g;
  return {
    bytes,
    offsetOf: (position) => start + position + countBelow(shortened, position),
    encode(text) {
      const plain = start > 0 && text.startsWith("\ufeff") ? text.slice(1) : text;
      return Buffer.from(plain.replace(isCrOnly ? /\r\n?/g : /\r\n/g, "\n"));
    },
    endingsIn: (span) => span.toString("latin1").match(endings) ?? [],
    endingNear: nearestEnding(file, isCrOnly ? CR : LF),
  };
}

interface Shortened {
  bytes: Buffer;
  /** Ascending places in the view of the LFs that are CRLF in the file. */
  shortened: number[];
}

function crAsLf(text: Buffer): Shortened {
  const bytes = Buffer.from(text);
  for (let at = bytes.indexOf(CR); at !== -1; at = bytes.indexOf(CR, at + 1)) bytes[at] = LF;
  return { bytes, shortened: [] };
}

function crlfAsLf(text: Buffer): Shortened {
  if (!text.includes("\r\n")) return { bytes: text, shortened: [] }; // the usual file: nothing is copied
  const bytes = Buffer.allocUnsafe(text.length);
  const shortened: number[] = [];
  let length = 0;
  // Byte by byte: copying whole lines costs a call for each, which is slower for lines as long as they usually are.
  for (let at = 0; at < text.length; at++) {
    if (text[at] === CR && text[at + 1] === LF) shortened.push(length);
    else bytes[length++] = text[at] as number;
  }
  return { bytes: bytes.subarray(0, length), shortened };
}

function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function nearestEnding(file: Buffer, mark: number): (offset: number) => string | undefined {
  const endingAt = (at: number) => (mark === CR ? "\r" : file[at - 1] === CR ? "\r\n" : "\n");
  // Between `searched` and `found` there is no ending, so many questions about one long line cost one search.
  let searched = 0;
  let found = -1;
  let last: number | undefined;
  return (offset) => {
    if (offset < searched || offset > found) {
      searched = offset;
      const next = file.indexOf(mark, offset);
      found = next === -1 ? file.length : next;
    }
    if (found < file.length) return endingAt(found);
    last ??= file.lastIndexOf(mark);
    return last === -1 ? undefined : endingAt(last);
  };
}
