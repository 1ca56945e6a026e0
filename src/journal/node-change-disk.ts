// The real disk, with the calls that only the journal needs.

import { constants, promises } from "node:fs";
import { nodeDisk, toSeconds } from "../files/disk/node-disk.js";
import type { ChangeDisk } from "./change-set.js";

const noFollow = constants.O_NOFOLLOW ?? 0;
const appendFlags = constants.O_WRONLY | constants.O_APPEND | noFollow;
const directoryFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | noFollow;
type FileHandle = Awaited<ReturnType<typeof promises.open>>;

export const nodeChangeDisk: ChangeDisk = {
  ...nodeDisk,

  mkdir: (path, mode = 0o777) => promises.mkdir(path, mode),

  async openAppend(path) {
    const handle = await promises.open(path, appendFlags);
    return {
      async append(bytes) {
        for (let written = 0; written < bytes.length; )
          written += (await handle.write(bytes, written, bytes.length - written)).bytesWritten;
      },
      truncate: (sizeBytes) => handle.truncate(sizeBytes),
      fsync: () => handle.sync(),
      close: () => handle.close(),
    };
  },

  async link(from, to) {
    // Elsewhere the call may follow a link, and give its target another name.
    if (process.platform !== "linux" && (await promises.lstat(from)).isSymbolicLink())
      throw Object.assign(new Error(`ENOTSUP: ${to}`), { code: "ENOTSUP" });
    await promises.link(from, to);
  },

  symlink: (target, path) => promises.symlink(Buffer.from(target), path),
  readlink: (path) => promises.readlink(path, { encoding: "buffer" }),
  chownLink: (path, uid, gid) => promises.lchown(path, uid, gid),
  touchLink: (path, modifiedMs) => promises.lutimes(path, toSeconds(modifiedMs), toSeconds(modifiedMs)),
  chmodDirectory: (path, mode) => withDirectory(path, (handle) => handle.chmod(mode)),
  ownsMode({ uid }) {
    const own = process.geteuid?.();
    return own === undefined || own === 0 || own === uid;
  },
  chownDirectory: (path, uid, gid) => withDirectory(path, (handle) => handle.chown(uid, gid)),
};

/** Opened first, so that a link which takes its place has no effect. */
async function withDirectory(path: string, work: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await promises.open(path, directoryFlags);
  try {
    await work(handle);
  } finally {
    await handle.close();
  }
}
