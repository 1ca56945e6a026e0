// Our own standard input, given to a child. A confined one must not get it as it is if it is a file or a directory: a
// process can open its descriptors anew, for writing too, and they lead past every mount of the sandbox.

import { createReadStream, fstatSync } from "node:fs";
import type { Writable } from "node:stream";
import type { ProcessRequest } from "./processes.js";

type Input = ProcessRequest["stdin"];

/** The child reads what we would read. */
export function isOurInput(input: Input): input is { readonly isOurs: true } {
  return typeof input === "object" && "isOurs" in input;
}

/** What `spawn` takes for standard input. */
export function inputKind(input: Input, isConfined: boolean): "ignore" | "inherit" | "pipe" {
  if (input === undefined) return "ignore";
  return isOurInput(input) && !(isConfined && isOnDisk()) ? "inherit" : "pipe";
}

/** Into the pipe of a child that has one. */
export function giveInput(input: Input, pipe: Writable | null): void {
  if (pipe === null) return;
  pipe.on("error", () => {}); // a child need not read what it is given
  if (!isOurInput(input)) return void pipe.end(input);
  const source = createReadStream("", { fd: 0, autoClose: false });
  source.on("error", () => pipe.end()); // a directory cannot be read
  pipe.on("close", () => source.destroy());
  source.pipe(pipe);
}

/** Pipes, sockets and terminals lead to no path. */
function isOnDisk(): boolean {
  try {
    const input = fstatSync(0);
    return input.isFile() || input.isDirectory() || input.isBlockDevice();
  } catch {
    return false; // closed
  }
}
