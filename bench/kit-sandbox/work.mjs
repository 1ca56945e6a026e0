// Daily work that must go on in the sandbox. Each command ends with 0; `happened` is a test that runs outside afterwards.
// Where it says so, the result is compared with `git status` of the same work without the sandbox.

/**
 * What tsx does: a parent listens on a UNIX socket in the temporary directory, a child loads a hook that turns
 * TypeScript into JavaScript and tells the parent over that socket which files it loaded.
 */
const typescriptRunner = {
  "run.mjs": `
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
const directory = join(tmpdir(), "tsx-" + process.getuid());
mkdirSync(directory, { recursive: true });
const pipe = join(directory, process.pid + ".pipe");
let told = "";
const server = createServer((socket) => socket.on("data", (data) => { told += data; }));
server.listen(pipe, () => {
  const args = ["--import", "./hook.mjs", "main.ts"];
  const child = spawn(process.execPath, args, { stdio: "inherit", env: { ...process.env, PARENT_PIPE: pipe } });
  child.on("close", (code) => { server.close(); process.exitCode = code || (/main\\.ts/.test(told) ? 0 : 9); });
});`,
  "hook.mjs": `
import { register } from "node:module";
import { connect } from "node:net";
import { pathToFileURL } from "node:url";
const socket = connect(process.env.PARENT_PIPE);
await new Promise((resolve, reject) => socket.on("connect", resolve).on("error", reject));
await new Promise((resolve) => socket.write(process.argv[1], resolve));
socket.unref();
register("./load.mjs", pathToFileURL("./"));`,
  "load.mjs": `
import { readFileSync } from "node:fs";
export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const source = readFileSync(new URL(url), "utf8").replace(/: (number|string)/g, "");
  return { format: "module", shortCircuit: true, source };
}`,
  "main.ts": `
const twice = (value: number): number => value * 2;
process.exit(twice(21) === 42 ? 0 : 1);`,
};
const writeRunner = Object.entries(typescriptRunner)
  .map(([name, text]) => `cat > ${name} <<'END'\n${text}\nEND`)
  .join("\n");

const identity = "-c user.name=T -c user.email=t@example.invalid";

export const work = [
  {
    name: "git add -A and commit",
    command: `echo two >> code.txt && echo new > added.txt && git add -A && git ${identity} commit -q -m second && test -z "$(git status --porcelain)"`,
    happened:
      'test "$(git rev-list --count HEAD)" = 2 && test -z "$(git status --porcelain)" && git fsck --strict 2>/dev/null',
  },
  {
    name: "git branches, stash, gc",
    command: `git checkout -q -b topic && echo x >> code.txt && git ${identity} stash -q && git ${identity} stash pop -q && git ${identity} commit -qam topic && git checkout -q main && git ${identity} merge -q topic && git gc -q && git fsck`,
    happened: "git log --oneline | grep -q topic && git fsck --strict 2>/dev/null",
  },
  {
    name: "a linked worktree",
    // The project's root is the worktree here, and its common directory is elsewhere.
    prepare: `rm -rf .git .envrc .gitignore ./* && git init -q -b main "$OUT/main" && git -C "$OUT/main" ${identity} commit -q --allow-empty -m x && git -C "$OUT/main" worktree add -q "$PWD" -b side`,
    command: `echo x > new.txt && git add -A && git ${identity} commit -q -m third && test -z "$(git status --porcelain)"`,
    happened: "git log --oneline | grep -q third",
  },
  {
    name: "git init",
    command: 'git init -q "$SECOND" && cd "$SECOND" && touch a && git add -A && git status --short | grep -q a',
    happened: 'git -C "$SECOND" status >/dev/null',
  },
  {
    name: "node execSync and fork",
    command: `"$NODE" -e 'const c=require("child_process");if(String(c.execSync("echo hi"))!=="hi\\n")process.exit(1);require("fs").writeFileSync("forked.js","process.send(1)");const f=c.fork("forked.js");f.on("message",()=>process.exit(0));setTimeout(()=>process.exit(2),20000)'`,
  },
  {
    name: "python pool",
    needs: "python3",
    command:
      "python3 -c 'from multiprocessing import Pool\nif __name__==\"__main__\":\n  print(Pool(2).map(abs,[-1,-2]))' | grep -q '1, 2'",
  },
  {
    name: "own UNIX socket, in the project and in the temporary directory",
    command: `for p in "$PWD/own.sock" "$TMPDIR/own.sock"; do OWN=$p "$NODE" -e 'const n=require("net");const s=n.createServer(c=>c.end("ok")).listen(process.env.OWN,()=>n.connect(process.env.OWN).on("data",()=>process.exit(0)));setTimeout(()=>process.exit(2),20000)' || exit 1; done`,
  },
  { name: "a TypeScript runner with a socket in the temporary directory", command: `${writeRunner}\n"$NODE" run.mjs` },
  {
    name: "own loopback server",
    command: `"$NODE" -e 'const n=require("net");const s=n.createServer(c=>c.end("ok")).listen(0,"127.0.0.1",()=>n.connect(s.address().port,"127.0.0.1").on("data",()=>process.exit(0)));setTimeout(()=>process.exit(2),20000)'`,
  },
  {
    name: "semaphores",
    needs: "python3",
    command: "python3 -c 'import multiprocessing as m; s=m.Semaphore(1); s.acquire(); s.release()'",
  },
  {
    name: "mktemp",
    command:
      'f=$(mktemp) && echo x > "$f" && case $f in "$TMPDIR"/*) ;; *) exit 1 ;; esac && echo y > /tmp/other && echo z > /var/tmp/other && echo w > /dev/shm/other',
  },
  {
    name: "the temporary directory outlives the command",
    command: 'echo kept > "$TMPDIR/kept"',
    happened: 'grep -q kept "$OUT/../../temporary/kept"',
  },
  { name: "a toolchain in the home", command: '"$OWN_HOME/tools/bin/own-tool" | grep -q tool' },
  {
    name: "same user",
    command: 'test "$(id -u)" = "$WANTED_UID" && test "$(id -g)" = "$WANTED_GID" && touch owned && test -O owned',
    happened: "test -O owned",
  },
  {
    name: "no capability",
    command:
      "test \"$(grep -c '^Cap.*: *0000000000000000$' /proc/self/status)\" = 5 || test \"$(grep -c '^Cap.*0000000000000000$' /proc/self/status)\" = 5 && grep -q '^NoNewPrivs:.1' /proc/self/status",
  },
  { name: "a new session", command: "ps -o sid= -p $$ | grep -q . && ! (: < /dev/tty) 2>/dev/null" },
  { name: "a terminal of its own", needs: "script", command: "script -qec 'test -t 1' /dev/null" },
  {
    name: "devices",
    command:
      "echo x > /dev/null && head -c 4 /dev/zero | wc -c | grep -q 4 && head -c 4 /dev/urandom >/dev/null && echo x | cat /dev/stdin >/dev/null",
  },
  { name: "exit codes", command: "(exit 7); test $? = 7 && sh -c 'kill -TERM $$'; test $? = 143" },
  { name: "standard input is empty", command: 'test -z "$(cat)"' },
  {
    name: "nothing new in git status",
    command: "git status --porcelain | wc -l | grep -qx 0",
    happened: 'test -z "$(git status --porcelain --ignored | grep -v way-out)"',
  },
  {
    name: "nothing left on the disk",
    command: "ls -a > /dev/null",
    happened: 'test "$(ls -A | tr "\\n" " ")" = ".envrc .git .gitignore code.txt way-out " && test ! -e .git/modules',
  },
];

/** For `npm test`. */
export const shortWork = work.filter(({ name }) =>
  [
    "git add -A and commit",
    "a linked worktree",
    "a TypeScript runner with a socket in the temporary directory",
    "own loopback server",
    "same user",
    "nothing left on the disk",
  ].includes(name),
);
