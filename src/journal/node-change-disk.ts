// The real disk, with the calls that only the journal needs.

import { constants, promises } from "node:fs";
import { nodeDisk } from "../files/disk/node-disk.js";
import type { ChangeDisk } from "./change-set.js";

const appendFlags = constants.O_WRONLY | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);

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
};
