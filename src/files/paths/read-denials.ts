// What the model's tools may never read: the credential file, private keys, the environment and memory of processes,
// other users' homes. Decided on the text of a path; the workspace checks the requested and the canonical path, and also
// compares the credential file's device and inode, so a link does not get around it.

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
  return denialTest(policy)(path);
}

/** `denialOf` for many paths: what depends only on the policy is computed once. */
export function denialTest(policy: ReadPolicy): (path: string) => string | undefined {
  const credentialFiles = policy.credentialFiles.map(foldPath);
  const roots = homeRoots(policy.home);
  return (path) => {
    const folded = foldPath(path);
    if (credentialFiles.includes(folded)) return credentialReason;
    if (privateKeyName.test(basename(folded)) || folded.includes(privateKeyPlace)) return privateKeyReason;
    if (folded.startsWith("/proc/") && processMemory.test(folded))
      return "it shows the environment or the memory of a process";
    if (homesAround(path, folded, roots).some((owner) => isForeignHome(path, owner, policy))) return foreignHomeReason;
    return undefined;
  };
}

export const credentialReason = "it holds credentials";
export const privateKeyReason = "it is a private key";
export const foreignHomeReason = "it lies in another user's home";

/** A key is a key under any name. */
export function isPrivateKey(bytes: Uint8Array): boolean {
  const first = bytes[0] ?? 0;
  if (first > 0x20 && first < 0x7f && first !== 0x2d && first !== 0x50) return false; // most files: neither `-` nor `P`
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 256)).toString("latin1");
  return /^(?:\u00ef\u00bb\u00bf)?\s*(?:-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-)/.test(
    head,
  );
}

const privateKeyName = /^(?:id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?|ssh_host_\w+_key|secring\.gpg|.+\.ppk)$/;
const privateKeyPlace = "/.gnupg/private-keys-v1.d/";
const processMemory = /^\/proc\/(?:kcore$|(?:.+\/)?(?:environ|mem|auxv|pagemap)$|(?:.+\/)?map_files\/)/;

/** A home is a child of a directory called `home` or `Users`, or root's own. */
function homeRoots(home: string): string[] {
  return ["/home/", "/users/", ...(/\/(?:home|users)$/i.test(dirname(home)) ? [`${foldPath(dirname(home))}/`] : [])];
}

/** The session's own directory may be read. */
function isForeignHome(path: string, owner: string, { home, cwds }: ReadPolicy): boolean {
  // From here on case counts: on most Linux disks Bob is not bob.
  if (owner === "/Users/Shared" || isWithin(home, owner)) return false;
  return !cwds.some((cwd) => isWithin(cwd, owner) && isWithin(path, cwd));
}

/** One home may be in another's. Folding changes no component into two, so they can be counted in the roots. */
function homesAround(path: string, folded: string, roots: readonly string[]): string[] {
  const rootsOwn = /^(?:\/var)?\/root(?=\/|$)/i.exec(path)?.[0];
  const homes = roots
    .filter((root) => folded.startsWith(root))
    .map((root) => path.split("/").slice(0, root.split("/").length).join("/"));
  return rootsOwn === undefined ? homes : [rootsOwn, ...homes];
}
