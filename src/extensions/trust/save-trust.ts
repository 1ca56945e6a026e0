// Records what a user decided about a project, and removes it again. Separate from reading, which every start does.

import type { Clock } from "../../base/clock.js";
import { GalleyError, messageOf } from "../../base/errors.js";
import { prepareConfigPath, replaceConfigFile, withConfigLock } from "../../files/config/config-write.js";
import { printable } from "../../files/paths/resolve-path.js";
import type { TrustItem } from "./digest-project.js";
import { isInside, readTrust, type TrustRecord, trustVersion } from "./trust-store.js";

/** Of one project: people go back and forth between branches. */
const maxPerRoot = 20;
const maxRecords = 2000;
/** Of one record; a larger project is remembered without what to compare with. */
const maxItems = 2000;
/** Well below what is read of such a file. */
const maxCharacters = 2 * 1024 * 1024;
const maxAttempts = 100;

export interface StoreOptions {
  readonly file: string;
  readonly clock: Clock;
}

/**
 * Throws `invalid_config` for a file that is damaged or newer than us, which is left alone; `file_refused` when it
 * cannot be written, or lies in the project it is about; `timeout` when another program keeps it.
 */
export async function saveTrust(
  project: { readonly root: string; readonly digest: string; readonly items: readonly TrustItem[] },
  decision: TrustRecord["decision"],
  { file, clock }: StoreOptions,
): Promise<void> {
  if (isInside(file, project.root))
    throw new GalleyError("file_refused", `${printable(file)} lies in the project that it would be about.`);
  const items =
    project.items.length > maxItems
      ? []
      : project.items.map(({ kind, name, hash, digest }) => ({ kind, name, hash, ...(digest ? { digest } : {}) }));
  const { root, digest } = project;
  const record: TrustRecord = { root, digest, decision, decidedAt: new Date(clock.now()).toISOString(), items };
  await change({ file, clock }, (records) => {
    const others = records.filter((old) => old.root !== root);
    const own = records.filter((old) => old.root === root && old.digest !== digest);
    return [...others.slice(-(maxRecords - maxPerRoot)), ...own.slice(1 - maxPerRoot), record];
  });
}

/** Removes every decision about a project; true if there was one. Throws as `saveTrust` does. */
export async function revokeTrust(root: string, options: StoreOptions): Promise<boolean> {
  let wasThere = false;
  await change(options, (records) => {
    wasThere = records.some((record) => record.root === root);
    return wasThere ? records.filter((record) => record.root !== root) : undefined;
  });
  return wasThere;
}

type Change = (records: readonly TrustRecord[]) => readonly TrustRecord[] | undefined;

async function change({ file, clock }: StoreOptions, edit: Change): Promise<void> {
  const path = prepareConfigPath(file);
  const write = async () => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const found = readSound(path, file);
      const records = edit(found?.records ?? []);
      if (records === undefined) return;
      if (replaceConfigFile(path, { expected: found?.text, text: textOf(records) })) return;
    }
    throw new GalleyError("timeout", `Another program keeps changing ${printable(file)}. Nothing was changed.`);
  };
  await withConfigLock(path, write, clock);
}

/** A text that becomes too long loses its oldest decisions. */
function textOf(records: readonly TrustRecord[]): string {
  const text = `${JSON.stringify({ version: trustVersion, records }, null, 1)}\n`;
  if (text.length <= maxCharacters || records.length <= 1) return text;
  return textOf(records.slice(Math.ceil(records.length / 10)));
}

function readSound(path: string, file: string) {
  try {
    return readTrust(path);
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error;
    const reason = `${printable(file)} ${messageOf(error)}`;
    throw new GalleyError("invalid_config", `${reason}. Repair or remove it first.`, { cause: error });
  }
}
