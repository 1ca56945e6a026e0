// The journal with one thing wrong. `file` is below src/journal; each change is the text there and the text
// that takes its place. `why` says of a mutant that may live why no run can notice it.

const drop = (name, file, from, to = "") => ({ name, file, changes: [[from, to]] });

const swap = (name, file, changes) => ({ name, file, changes });

export const mutants = [
  // Syncs, one by one.
  drop(
    "no sync of a record",
    "journal-file.ts",
    "await this.#file.append(bytes);\n        await this.#file.fsync();",
    "await this.#file.append(bytes);",
  ),
  drop("no sync of a journal that was found", "journal-file.ts", "await file.fsync();\n      } catch", "} catch"),
  drop("no sync of the journal's name", "apply.ts", "await journal.syncName();"),
  drop("no sync after the journal is gone", "journal-file.ts", "await this.syncName();\n  }", "}"),
  drop("no sync of the undo record", "undo-record.ts", "await failingFor(itself, () => file.fsync());"),
  drop("no sync of the undo record's name", "apply.ts", "await deps.pins.sync([dirname(begin.undoRecord)]);"),
  drop("no sync after the undo record is gone", "finish.ts", "await pins.sync([dirname(undoRecord)]);"),
  drop(
    "no sync of a staged file",
    "temp-files.ts",
    "like, mode, mtimeMs });\n    await file.fsync();",
    "like, mode, mtimeMs });",
  ),
  drop(
    "no sync of a copied backup",
    "temp-files.ts",
    "mtimeMs: found.modifiedMs });\n    await file.fsync();",
    "mtimeMs: found.modifiedMs });",
  ),
  drop("no sync of the targets' directories before the commit", "temp-files.ts", "...ops.flatMap(tempDirectories), "),
  drop("no sync of what holds a new directory", "temp-files.ts", ", ...dirs.map((directory) => dirname(directory))"),
  drop("no sync after the renames", "finish.ts", "await deps.pins.syncExisting(directoriesOf(begin));\n  // A", "// A"),
  swap("a sync only of what this process renamed", "finish.ts", [
    [
      "await deps.pins.syncExisting(directoriesOf(begin));\n  // A",
      "await deps.pins.syncExisting(pending.map(({ path }) => dirname(path)));\n  // A",
    ],
  ]),
  drop(
    "no sync after going back",
    "finish.ts",
    "await deps.pins.syncExisting(directoriesOf(begin));\n  return foreign;",
    "return foreign;",
  ),
  drop("no sync after clearing away", "temp-files.ts", "await pins.sync(touched);"),
  drop(
    "no sync between the two spellings",
    "carry-out.ts",
    'ignoring("ENOENT"));\n    await pins.sync([dirname(op.path)]);',
    'ignoring("ENOENT"));',
  ),

  // The order of the steps.
  swap("begin after staging", "apply.ts", [
    ["await journal.append(begin);\n", ""],
    [
      "await writeTempFiles(deps, prepared, signal);",
      "await writeTempFiles(deps, prepared, signal);\n    await journal.append(begin);",
    ],
  ]),
  drop(
    "commit before staging",
    "apply.ts",
    "await writeTempFiles(deps, prepared, signal);",
    'await journal.append({ type: "commit" });\n    await writeTempFiles(deps, prepared, signal);',
  ),
  drop(
    "commit after the renames",
    "apply.ts",
    'await journal.append({ type: "commit" });\n    await rollForward(deps, { begin, pending: prepared.ops, marks });',
    'await rollForward(deps, { begin, pending: prepared.ops, marks });\n    await journal.append({ type: "commit" });',
  ),
  drop("no commit", "apply.ts", 'await journal.append({ type: "commit" });'),
  drop(
    "end before the renames",
    "apply.ts",
    "await rollForward(deps, { begin, pending: prepared.ops, marks });",
    'await journal.append({ type: "end", result: "applied", foreign: [] });\n    await rollForward(deps, { begin, pending: prepared.ops, marks });',
  ),
  swap("clearing away before the end", "finish.ts", [
    ['if (!isEnded) await journal.append({ type: "end", result, foreign });\n', ""],
    [
      "await removeTempFiles(deps, left, { withDirectories: isReverted, isRenamed: isOwnWork });",
      'await removeTempFiles(deps, left, { withDirectories: isReverted, isRenamed: isOwnWork });\n  if (!isEnded) await journal.append({ type: "end", result, foreign });',
    ],
  ]),
  drop("no end", "finish.ts", 'if (!isEnded) await journal.append({ type: "end", result, foreign });'),
  swap("the undo record after the renames", "apply.ts", [
    ["await keepOriginals(deps, { set, prepared, begin, signal });\n", ""],
    ["{ begin, prepared, marks }: Work", "{ set, signal, begin, prepared, marks }: Work"],
    ["// All files are new.", "await keepOriginals(deps, { set, prepared, begin, signal });\n  // All files are new."],
  ]),
  swap("the journal gone before the staged files", "finish.ts", [
    [
      "await removeTempFiles(deps, begin, { withDirectories: true });",
      "await journal.remove();\n    await removeTempFiles(deps, begin, { withDirectories: true });",
    ],
    [
      "  await journal.remove();\n}\n\nasync function dropUndoRecord",
      "  if (!begin) await journal.remove();\n}\n\nasync function dropUndoRecord",
    ],
  ]),
  drop(
    "the journal gone before the owner is told",
    "finish.ts",
    "if (await deps.settle(outcome).catch(() => false)) await journal.remove();",
    "await journal.remove();\n  await deps.settle(outcome);",
  ),
  swap("the owner told before the end", "finish.ts", [
    [
      "if (!isEnded) await journal.append(",
      "await deps.settle({ txid: begin.txid, result, foreign });\n  if (!isEnded) await journal.append(",
    ],
  ]),
  drop(
    "going back before it is on record",
    "apply.ts",
    'await journal.append({ type: "undo" });\n    foreign = await rollBack(deps, begin);',
    'foreign = await rollBack(deps, begin);\n    await journal.append({ type: "undo" });',
  ),
  drop("going back without a record", "apply.ts", 'await journal.append({ type: "undo" });'),
  drop("recovery goes back without a record", "recover.ts", 'await journal.append({ type: "undo" });'),
  drop(
    "mode and owner after the sync",
    "temp-files.ts",
    "await setAttributes(file, { shownPath: op.shownPath, like, mode, mtimeMs });\n    await file.fsync();",
    "await file.fsync();\n    await setAttributes(file, { shownPath: op.shownPath, like, mode, mtimeMs });",
  ),
  drop(
    "a new file loses its staged name at once",
    "carry-out.ts",
    "await linkIfFree({ disk }, { from: staged, to: target, op });",
    "await linkIfFree({ disk }, { from: staged, to: target, op });\n  await disk.unlink(staged).catch(() => {});",
  ),
  drop(
    "a new file keeps its staged name to the end",
    "finish.ts",
    "await deps.disk.unlink(await deps.pins.of(op.staged)).catch(() => {});",
  ),
  drop(
    "the old file goes first",
    "carry-out.ts",
    'if (op.kind === "modify") return disk.rename(staged, target);',
    'if (op.kind === "modify") {\n    await disk.unlink(target);\n    return disk.rename(staged, target);\n  }',
  ),

  // What is looked at.
  drop("no checksum", "records.ts", "if (line !== lineOf(text)) return undefined;"),
  drop("a torn line is not cut off", "journal-file.ts", "await file.truncate(soundBytes);"),
  drop("no second look", "verify-unchanged.ts", "if (files.length > 0) throw staleError(files, ops.length);"),
  drop("no last look", "finish.ts", "await refuseChanged(deps, op, marks);"),
  drop("the second look does not see modes", "verify-unchanged.ts", "if (!isAlike || ", "if ("),
  drop(
    "recovery does not see modes",
    "carry-out.ts",
    "hash === op.before && mode === op.beforeMode",
    "hash === op.before",
  ),
  drop(
    "recovery judges by the hash alone",
    "carry-out.ts",
    'if (!isStaged) return hash === op.after ? "applied" : "edited";',
  ),
  drop("recovery sees no conflict", "recover.ts", 'if (state === "conflict") return undefined;'),
  drop("recovery goes forward without a commit", "recover.ts", 'state.phase === "begun"', "false"),
  drop(
    "recovery takes a gone directory for a failure",
    "pinned-paths.ts",
    'return this.of(path).catch(ignoring("ENOENT", "ENOTDIR"));',
    "return this.of(path);",
  ),
  drop(
    "going back does not look",
    "carry-out.ts",
    "if (!isOurs && !isBetween) return hash !== op.before;",
    "if (hash === op.before) return false;",
  ),
  drop(
    "going back knows its files by the hash alone",
    "look-at.ts",
    "staged ? staged.identity === stat?.identity : hash === op.after",
    "hash === op.after",
  ),
  drop(
    "a new file replaces what is there",
    "link-if-free.ts",
    "return await disk.link(from, to);",
    "return await disk.rename(from, to);",
  ),
  drop(
    "a failed commit is taken for none",
    "apply.ts",
    "throw await revert(deps, journal, { begin, error });",
    "await forget(deps, journal, begin);\n    throw untouchedError(error);",
  ),
  drop(
    "lanes go on after a failure",
    "in-lanes.ts",
    "await work(list[next++] as T).catch((error: unknown) => failures.push(error));",
    "await work(list[next++] as T);",
  ),

  // Directories and links.
  drop(
    "no sync of what a directory is put into",
    "directory-ops.ts",
    "await pins.sync([dirname(op.path), dirname(op.staged)]);",
  ),
  drop("no sync of a directory's mode", "directory-ops.ts", "await pins.sync([op.path]); // also", "// also"),
  drop(
    "no sync of made directories and of backups of old ones",
    "temp-files.ts",
    "await pins.sync(syncedDirectories(ops));",
  ),
  drop("the mode of a directory before the commit", "op-types.ts", "return mode | 0o700;", "return mode;"),
  drop("the mode of a directory is never set", "finish.ts", "await setDirectoryModes(deps, ops);"),
  drop(
    "another program's mode is overwritten",
    "directory-ops.ts",
    "if (stat.mode === until) await disk.chmod",
    "await disk.chmod",
  ),
  drop(
    "success before directories have their modes",
    "apply.ts",
    "if (begin.ops.some((op) => modeUntilEnd(op) !== undefined)) throw recoveryNeeded(error);",
  ),
  {
    ...drop(
      "a removed directory stays pinned",
      "directory-ops.ts",
      "await pins.forget(op.path);\n}\n\n/** False",
      "}\n\n/** False",
    ),
    why: "the simulated disk keeps no directory open; directory-ops.test.ts goes back on the real one",
  },
  drop(
    "no backup of a directory",
    "temp-files.ts",
    'if (found.kind === "directory") return makeBackupDirectory',
    'if (found.kind === "directory") return;\n  if (found.sizeBytes < 0) return makeBackupDirectory',
  ),
  drop(
    "directories go before what is in them",
    "order-ops.ts",
    "return [1, -op.path.length]; // the deepest first",
    "return [-1, op.path.length];",
  ),
  drop("temporary names in directories that go", "order-ops.ts", "if (unsteady.has(at)) directory = dirname(at);", ""),
  {
    ...drop(
      "a new directory replaces what is there",
      "directory-ops.ts",
      'if (await disk.lstat(target).catch(ignoring("ENOENT"))) throw new ForeignChange(op.shownPath);',
    ),
    why: "a rename replaces an empty directory only: nothing is in it that could be lost",
  },
  drop("links are not expected where directories were", "pinned-paths.ts", "this.#turnedLinks = new Set(paths);"),
  {
    ...drop(
      "no listing of directories that go",
      "verify-unchanged.ts",
      "else if (losesDirectory(op) && !(await holdsOnly(deps, op.path, removed))) stale.add(op);",
    ),
    why: "step 6 removes empty directories only, and goes back; the listing saves that, and gives the better sentence",
  },

  // What is left.
  drop("backups stay", "temp-files.ts", "[backup] : [staged, backup]", "[] : [staged]"),
  drop("staged files stay", "temp-files.ts", "[backup] : [staged, backup]", "[backup] : [backup]"),
  drop("another process's staged files are taken for renamed", "finish.ts", "isRenamed: isOwnWork", "isRenamed: true"),
  drop("made directories are not removed", "temp-files.ts", "if (withDirectories)", "if (!withDirectories)"),
  drop(
    "the undo record of what did not happen stays",
    "finish.ts",
    "if (isReverted) await dropUndoRecord(deps, begin);\n  else await",
    "if (!isReverted) await",
  ),
  drop("nothing is tidied up after a failure", "apply.ts", "await forget(deps, journal, begin).catch(() => {});"),

  // Alive, and rightly so.
  {
    ...drop("no first look", "prepare.ts", "if (stat && hash === op.beforeHash)", "if (stat)"),
    why: "the second look compares the same bytes with the same hash; the first one only saves the work",
  },
  {
    ...drop(
      "a torn append is not cut off",
      "journal-file.ts",
      "await this.#file.truncate(this.#soundBytes).catch(",
      "await Promise.resolve().catch(",
    ),
    why: "what is lost behind half a line is an undo of nothing, or an end that recovery reaches again",
  },
  {
    ...drop(
      "the backup is not compared",
      "verify-unchanged.ts",
      'if (backup === null || typesOf(op).before === "directory") return true;',
      "return true;",
    ),
    why: "it takes a file that is replaced by its like while it is staged, and a failure after the commit",
  },
];
