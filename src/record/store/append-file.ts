// A file that only this process extends. A line is in it whole or not at all, as far as this process can ensure, and a
// file that another program has changed is left alone.

import { systemCode } from "../../base/errors.js";
import type { FileStatus, SessionDisk } from "./session-disk.js";

export class AppendFile {
  readonly #disk: SessionDisk;
  readonly #path: string;
  readonly #file: number;
  #length: number;
  #isOpenEnded: boolean;
  /** Bytes of a line that failed halfway and could not be cut off yet. */
  #excess = 0;
  /** Which file it is, whatever becomes of its name. */
  #self: Pick<FileStatus, "device" | "inode"> | undefined;

  constructor(
    disk: SessionDisk,
    path: string,
    { file, length, isOpenEnded = false }: { file: number; length: number; isOpenEnded?: boolean },
  ) {
    this.#disk = disk;
    this.#path = path;
    this.#file = file;
    this.#length = length;
    this.#isOpenEnded = isOpenEnded;
  }

  /** The last line lacks its LF, which comes with the next one. */
  get isOpenEnded(): boolean {
    return this.#isOpenEnded;
  }

  /** Of the whole lines. */
  get length(): number {
    return this.#length;
  }

  /** False when another program has changed, replaced, moved or removed the file. */
  get isOurs(): boolean {
    const status = this.#statusInPlace();
    return status !== undefined && status.links > 0 && status.bytes === this.#length + this.#excess;
  }

  /**
   * Looked up by its name: a file that was moved away may still exist under another name, where our lines would not be
   * found. Undefined when the name is gone or stands for another file.
   */
  #statusInPlace(): FileStatus | undefined {
    this.#self ??= this.#disk.status(this.#file);
    try {
      const found = this.#disk.statusAt(this.#path);
      return found?.inode === this.#self.inode && found.device === this.#self.device ? found : undefined;
    } catch (error) {
      // The directory may not be searched: the open file has to do.
      return systemCode(error) === "ENOTDIR" ? undefined : this.#disk.status(this.#file);
    }
  }

  /** Answers false, with nothing written, when the file is no longer ours. Throws what the disk says. */
  append(line: Buffer): boolean {
    if (!this.isOurs) return false;
    this.#cutExcess();
    const bytes = this.#isOpenEnded ? Buffer.concat([Buffer.from("\n"), line]) : line;
    try {
      writeAll(this.#disk, this.#file, bytes, (written) => {
        this.#excess = written;
      });
    } catch (error) {
      try {
        if (this.isOurs) this.#cutExcess();
      } catch {
        // `#excess` remembers the torn line, which is cut off before anything else is written.
      }
      throw error;
    }
    this.#excess = 0;
    this.#length += bytes.length;
    this.#isOpenEnded = false;
    return true;
  }

  /** The whole lines, piece by piece. A piece is good until the next one is asked for. */
  async *chunks(): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(1024 * 1024);
    for (let position = 0; position < this.#length; ) {
      const bytes = await this.#disk.read(this.#file, buffer, position);
      if (bytes === 0) return;
      const wanted = Math.min(bytes, this.#length - position);
      yield buffer.subarray(0, wanted);
      position += wanted;
    }
  }

  sync(): Promise<void> {
    return this.#disk.sync(this.#file);
  }

  close(): void {
    this.#disk.close(this.#file);
  }

  #cutExcess(): void {
    if (this.#excess === 0) return;
    this.#disk.truncate(this.#file, this.#length);
    this.#excess = 0;
  }
}

/** Every byte, in as many goes as it takes; `onProgress` hears how many are there by now. */
export function writeAll(
  disk: SessionDisk,
  file: number,
  bytes: Uint8Array,
  onProgress: (written: number) => void = () => {},
): void {
  for (let written = 0; written < bytes.length; onProgress(written)) {
    const more = disk.write(file, bytes, written);
    if (more <= 0) throw new Error("The disk accepts no more bytes");
    written += more;
  }
}
