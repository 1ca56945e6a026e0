// Runs synchronous work that may never end, and stops it. Only V8's own watchdog can interrupt a regular expression
// that backtracks, and `node:vm` is the door to it; no foreign code runs in the context. One call costs about 60 µs.

import { createContext, Script } from "node:vm";
import { systemCode } from "./errors.js";

const holder: { work: () => void } = { work: () => {} };
let script: Script | undefined;

/** False if the work was stopped: it ends between two instructions, with whatever it had done by then. */
export function runWithin(limitMs: number, work: () => void): boolean {
  if (!script) {
    createContext(holder);
    script = new Script("work()");
  }
  holder.work = work;
  try {
    script.runInContext(holder, { timeout: limitMs });
    return true;
  } catch (error) {
    if (systemCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
    throw error;
  } finally {
    holder.work = () => {}; // releases what the work refers to
  }
}
