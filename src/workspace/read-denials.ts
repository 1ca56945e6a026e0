// What the model's tools may not read, whoever asks: the credential file, private keys, the environment and memory of
// processes, other people's homes. Decided on text; the workspace asks for the requested and for the canonical path,
// and compares the credential file's device and inode as well, so a link does not dodge it.

import { basename, dirname } from "node:path";
import { foldPath, isWithin } from "./resolve-path.js";

export interface ReadPolicy {
  /** The session's directory, as given and canonical. */
  cwds: readonly string[];
  home: string;
  /** The credential file, as given and canonical where it exists. */
  credentialFiles: readonly string[];
}

/** Why a path must not be read, or undefined. */
export function denialOf(path: string, policy: ReadPolicy): string | undefined {
  const folded = foldPath(path);
  if (policy.credentialFiles.some((file) => foldPath(file) === folded)) return credentialReason;
  if (privateKeyName.test(basename(folded)) || privateKeyPlace.test(folded)) return privateKeyReason;
  if (processMemory.test(folded)) return "it shows the environment or the memory of a process";
  if (isForeignHome(path, policy)) return foreignHomeReason;
  return undefined;
}

export const credentialReason = "it holds credentials";
export const privateKeyReason = "it is a private key";
export const foreignHomeReason = "it lies in another user's home";

/** A key is a key under any name. */
export function isPrivateKey(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 256)).toString("latin1");
  return /^(?:\u00ef\u00bb\u00bf)?\s*(?:-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-)/.test(
    head,
  );
}

const privateKeyName = /^(?:id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?|ssh_host_\w+_key|secring\.gpg|.+\.ppk)$/;
const privateKeyPlace = /\/\.gnupg\/private-keys-v1\.d\//;
const processMemory = /^\/proc\/(?:kcore$|(?:.+\/)?(?:environ|mem|auxv|pagemap)$|(?:.+\/)?map_files\/)/;

/** A home is a child of a directory called `home` or `Users`, or root's own. The session's directory is no trespass. */
function isForeignHome(path: string, { home, cwds }: ReadPolicy): boolean {
  const roots = ["/home", "/users", ...(/\/(?:home|users)$/i.test(dirname(home)) ? [foldPath(dirname(home))] : [])];
  const owner = homeOf(path, roots);
  // From here on case counts: on most Linux disks Bob is not bob.
  if (owner === undefined || owner === "/Users/Shared" || isWithin(home, owner)) return false;
  return !cwds.some((cwd) => isWithin(cwd, owner) && isWithin(path, cwd));
}

function homeOf(path: string, roots: readonly string[]): string | undefined {
  const components = path.split("/");
  for (let count = 2; count <= components.length; count++) {
    const place = components.slice(0, count).join("/");
    if (/^(?:\/var)?\/root$/i.test(place) || roots.includes(foldPath(dirname(place)))) return place;
  }
  return undefined;
}
