// A client that can be killed: starts the program it is told to and hands bytes on in both directions. Whoever kills it
// closes both ends of the program at once, as a crash would.

import { spawn } from "node:child_process";

const child = spawn(process.execPath, process.argv.slice(2), { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
child.stdin.on("error", () => {});
child.on("exit", (code) => process.exit(code ?? 1));
