// A private directory for what a session's commands leave for each other. It is made on first use and ends with the
// session; those of processes that were killed are removed meanwhile.

export class TemporaryDirectory {
  #path: Promise<string> | undefined;
  #cleaning: Promise<void> | undefined;

  /** Canonical. */
  path(): Promise<string> {
    this.#path ??= this.#make();
    return this.#path;
  }

  async #make(): Promise<string> {
    const { makeOwnedDirectory, removeLeftDirectories } = await import("./owned-directories.js");
    this.#cleaning = removeLeftDirectories("tmp"); // it may take a while, and no command need wait for it
    return makeOwnedDirectory("tmp");
  }

  /** Never rejects: what cannot be removed is the system's to clean up. */
  async remove(): Promise<void> {
    const path = await this.#path?.catch(() => undefined); // it was never made
    await this.#cleaning;
    if (path === undefined) return;
    const { removeTree } = await import("../layer/remove-tree.js");
    await removeTree(path).catch(() => {}); // a command may have locked it
  }
}
