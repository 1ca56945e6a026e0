// What a user decided about projects, in one file of the user's own. A decision is about a directory and digests: the
// same files elsewhere, other files in the same directory and everything below it are separate questions. Only this
// file counts; nothing that a project says about itself does.

import { dirname } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import { readConfigFile } from "../../files/config/config-files.js";
import { lookAt } from "../../files/module-files.js";
import { isWithin, printable } from "../../files/paths/resolve-path.js";
import type { TrustItem } from "./digest-project.js";

export interface TrustRecord {
  /** The canonical path of the project's root. */
  readonly root: string;
  readonly digest: string;
  readonly decision: "trusted" | "untrusted";
  /** ISO 8601. */
  readonly decidedAt: string;
  /** What the digest was made of, to tell later what changed. */
  readonly items: readonly TrustRecordItem[];
}

/** Records of earlier versions have no digests of items: they count only as a whole. */
export type TrustRecordItem = Pick<TrustItem, "kind" | "name" | "hash" | "digest">;

export interface TrustFile {
  /** Oldest first. */
  readonly records: readonly TrustRecord[];
  /** Why none of them counts, as a sentence. */
  readonly problem?: string;
}

export const trustVersion = 1;

/** Never throws for what the file is or says: a file that cannot be used decides nothing. */
export function listTrust(file: string): TrustFile {
  try {
    return { records: readTrust(file)?.records ?? [] };
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error;
    return { records: [], problem: `${printable(file)} ${messageOf(error)}; no project is trusted by it` };
  }
}

/** Could an author of the project also write this file? */
export function isInside(file: string, root: string): boolean {
  const places = [file, dirname(file)].map(lookAt).flatMap((looked) => ("realPath" in looked ? [looked.realPath] : []));
  return [file, ...places].some((place) => isWithin(place, root));
}

/** Undefined when there is none yet. The sentence of an error begins with the file's name, which is left out. */
export function readTrust(path: string): { text: string; records: TrustRecord[] } | undefined {
  const found = readConfigFile(path);
  if (found === undefined) return undefined;
  if (process.platform !== "win32" && (found.mode & 0o022) !== 0)
    throw new GalleyError("file_refused", "can be written by other users");
  const value = parse(found.text);
  if (!isObject(value) || !Array.isArray(value.records) || typeof value.version !== "number") throw damaged();
  if (value.version !== trustVersion)
    throw new GalleyError("invalid_config", "was written by another version of galley");
  return { text: found.text, records: value.records.map(checkRecord) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged(); // the parser's own words quote the text
  }
}

function checkRecord(value: unknown): TrustRecord {
  if (!isObject(value)) throw damaged();
  const { root, digest, decision, decidedAt, items } = value;
  if (typeof root !== "string" || typeof digest !== "string" || typeof decidedAt !== "string") throw damaged();
  if ((decision !== "trusted" && decision !== "untrusted") || !Array.isArray(items)) throw damaged();
  return { root, digest, decision, decidedAt, items: items.map(checkItem) };
}

function checkItem(value: unknown): TrustRecordItem {
  if (!isObject(value)) throw damaged();
  const { kind, name, hash, digest } = value;
  if (digest !== undefined && typeof digest !== "string") throw damaged();
  if (typeof kind !== "string" || typeof name !== "string" || typeof hash !== "string") throw damaged();
  return { kind: kind as TrustItem["kind"], name, hash, ...(digest === undefined ? {} : { digest }) };
}

function damaged(): GalleyError {
  return new GalleyError("invalid_config", "is damaged");
}
