// Whether this machine can confine and stage commands, as the built program says; tests that need it are skipped with the
// reason.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { emptyHome, galleyBin } from "./run-galley.js";

export interface SandboxAbility {
  /** Undefined: it can. */
  readonly noSandbox: string | undefined;
  readonly noView: string | undefined;
}

/** By `galley exec`, which tries it. */
export function sandboxAbility(): SandboxAbility {
  const { home, env, remove } = emptyHome();
  try {
    const cwd = join(home, "project");
    mkdirSync(cwd);
    const state = (args: readonly string[]) => {
      const said = spawnSync(process.execPath, [galleyBin, "exec", ...args, "--json", "--", "true"], {
        ...{ cwd, env, encoding: "utf8" },
      });
      return JSON.parse(said.stdout || "{}") as {
        message?: string;
        sandbox?: { mechanism: string; reason?: string; stage: { mechanism: string; reason?: string } };
      };
    };
    const { sandbox } = state([]);
    const staged = state(["--stage"]);
    const isStaged = (staged.sandbox?.stage.mechanism ?? "none") !== "none";
    return {
      noSandbox: sandbox && sandbox.mechanism !== "none" ? undefined : (sandbox?.reason ?? "no answer"),
      noView: isStaged ? undefined : (staged.message ?? "no answer"),
    };
  } finally {
    remove();
  }
}

const withoutUserNamespaces = ["--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"];

/** In front of a program and its arguments: there it can make no user namespaces. Undefined where that cannot be had. */
export function noNamespaces(): { readonly file: string; readonly args: readonly string[] } | undefined {
  const tried = spawnSync("bwrap", [...withoutUserNamespaces, "true"], { stdio: "ignore" });
  return tried.status === 0 ? { file: "bwrap", args: withoutUserNamespaces } : undefined;
}
