// Ways out of the sandbox, as shell commands. Each works without it: that is shown first. `happened` is a test that runs
// outside afterwards; without one the command itself says ESCAPED.

const read = (path) => `grep -q CREDENTIAL ${path} && echo ESCAPED`;
const connect = (where) =>
  `"$NODE" -e 'const s=require("net").connect(${where});s.on("data",d=>{if(/CREDENTIAL/.test(d))console.log("ESCAPED")});s.on("error",()=>{});setTimeout(()=>process.exit(),2000).unref()'`;

/** A process in the background has become what it shall be a moment later. */
const untilSeen = (time) => `until pgrep -x -f "sleep ${time}.$WORKER" >/dev/null; do :; done`;

/** For `npm test`: one of each kind. */
const short = new Set([
  ...["write outside", "hard link from outside", "symbolic link to outside", "shared temporary directory"],
  ...[
    "root of a process",
    "descriptor 200",
    "standard input",
    "descriptors of the helper",
    "a mount",
    "to enter a namespace",
    "signals",
  ],
  ...["environment of galley", "a survivor without a trace", "a terminal", "UNIX socket", "abstract socket", "TCP"],
  ...["key in the home", "agent directory", "hook", "another .git in its place", "new .vscode", "kernel settings"],
  ...["modes of devices", "new repository with a hook"],
]);

export const escapes = [
  // Files outside of the project.
  { name: "write outside", command: 'echo x > "$OUT/new"', happened: 'test -e "$OUT/new"' },
  { name: "change outside", command: 'echo x >> "$OUT/file"', happened: 'grep -q x "$OUT/file"' },
  { name: "delete outside", command: 'rm -f "$OUT/file"', happened: '! test -e "$OUT/file"' },
  { name: "mode outside", command: 'chmod 600 "$OUT/file"', happened: 'test "$(stat -c %a "$OUT/file")" = 600' },
  {
    name: "hard link from outside",
    command: 'ln "$OUT/file" linked && echo x >> linked',
    happened: 'grep -q x "$OUT/file"',
  },
  { name: "symbolic link to outside", command: "echo x > way-out/new", happened: 'test -e "$OUT/new"' },
  { name: "move to outside", command: 'mv code.txt "$OUT/"', happened: 'test -e "$OUT/code.txt"' },
  { name: "link made outside", command: 'ln -s /etc "$OUT/link"', happened: 'test -L "$OUT/link"' },
  {
    name: "shared temporary directory",
    command: 'echo x > "/tmp/galley-escape-$WORKER"',
    happened: 'rm "/tmp/galley-escape-$WORKER"',
  },
  {
    name: "shared memory",
    command: 'echo x > "/dev/shm/galley-escape-$WORKER"',
    happened: 'rm "/dev/shm/galley-escape-$WORKER"',
  },
  // Through other processes and descriptors.
  { name: "root of a process", command: 'echo x > "/proc/$VICTIM/root$OUT/new"', happened: 'test -e "$OUT/new"' },
  { name: "directory of a process", command: 'echo x > "/proc/$VICTIM/cwd/new"', happened: 'test -e "$OUT/new"' },
  { name: "descriptor of a process", command: 'echo x > "/proc/$VICTIM/fd/3/new"', happened: 'test -e "$OUT/new"' },
  { name: "descriptor 200", command: "echo x > /proc/self/fd/200/new", happened: 'test -e "$OUT/new"' },
  {
    name: "standard input",
    command: "echo x >> /proc/self/fd/0",
    happened: 'grep -q x "$OUT/input.kept"',
    input: "ours",
  },
  {
    name: "descriptors of the helper",
    command: 'for p in /proc/[0-9]*/fd/*; do { echo x > "$p/new"; } 2>/dev/null; done; true',
    happened: 'test -e "$OUT/new"',
  },
  { name: "a new user namespace", command: "unshare -Urm true && echo ESCAPED" },
  { name: "a mount", command: "unshare -Urm mount -t tmpfs none /mnt && echo ESCAPED" },
  {
    name: "to undo a mount",
    command:
      "unshare -Urm sh -c 'umount -l \"$OUT\" 2>/dev/null; umount /proc/sys 2>/dev/null; mount -o remount,bind,rw / && echo ESCAPED'",
  },
  {
    name: "to enter a namespace",
    command: 'nsenter --preserve-credentials -U -m -t "$NAMESPACED" touch "$OUT/new"',
    happened: 'test -e "$OUT/new"',
  },
  { name: "signals", command: 'kill -0 "$VICTIM" && echo ESCAPED' },
  { name: "environment of a process", command: read('"/proc/$VICTIM/environ"') },
  {
    name: "environment of galley",
    command: "cat /proc/[0-9]*/environ 2>/dev/null | grep -aq WORKER_SECRET && echo ESCAPED",
  },
  { name: "memory of a process", command: 'test -n "$(cat "/proc/$VICTIM/maps")" && echo ESCAPED' },
  {
    name: "tracing",
    command: 'timeout 1 strace -qq -o /dev/null -p "$VICTIM"; test $? = 124 && echo ESCAPED',
    needs: "strace",
  },
  {
    name: "a survivor",
    command: `setsid sleep 54321.$WORKER >/dev/null 2>&1 & ${untilSeen("54321")}`,
    needs: "pgrep",
    happened: 'pkill -KILL -x -f "sleep 54321.$WORKER"',
  },
  {
    name: "a survivor without a trace",
    command: `(setsid env -i sleep 64321.$WORKER >/dev/null 2>&1 &); ${untilSeen("64321")}`,
    needs: "pgrep",
    happened: 'pkill -KILL -x -f "sleep 64321.$WORKER"',
  },
  { name: "a terminal", command: 'echo x > "$TTY" && echo ESCAPED' },
  // Sockets and the network.
  { name: "UNIX socket", command: connect('process.env.OUT+"/socket.kept"') },
  { name: "abstract socket", command: connect('"\\0"+process.env.ABSTRACT') },
  { name: "TCP", command: connect("+process.env.PORT") },
  {
    name: "UDP",
    command: `"$NODE" -e 'const s=require("dgram").createSocket("udp4");s.send("x",+process.env.DATAGRAM_PORT,"127.0.0.1",()=>s.close());s.on("error",()=>{})'`,
    counts: "datagrams",
  },
  // What is hidden.
  { name: "key in the home", command: read('"$OWN_HOME/.ssh/id_rsa"') },
  { name: "password file in the home", command: read('"$OWN_HOME/.netrc"') },
  { name: "token in the configuration", command: read('"$OWN_HOME/.config/gh/hosts.yml"') },
  { name: "agent directory", command: read('"$AGENT/auth.json"') },
  { name: "runtime directory", command: read('"$RUNTIME/token"') },
  { name: "bash.hide", command: read('"$OWN_HOME/secret-notes"') },
  { name: "run directory", command: 'test -n "$(ls -A /run)" && echo ESCAPED' },
  {
    name: "variables of services",
    command: 'test -n "$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$DISPLAY" && echo ESCAPED',
  },
  // What is protected.
  { name: "hook", command: "echo x > .git/hooks/pre-commit", happened: "test -e .git/hooks/pre-commit" },
  { name: "git configuration", command: "git config core.pager evil", happened: "grep -q evil .git/config" },
  {
    name: "git configuration by rename",
    command: "printf '[core]\\npager=evil\\n' > c && mv -f c .git/config",
    happened: "grep -q evil .git/config",
  },
  {
    name: "another .git in its place",
    command: "mv .git old && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
    happened: "test -e .git/hooks/pre-commit",
  },
  { name: "git attributes", command: "echo x > .git/info/attributes", happened: "test -e .git/info/attributes" },
  { name: "git modules", command: "mkdir -p .git/modules/x", happened: "test -e .git/modules" },
  {
    name: "git worktree configuration",
    command: "echo x > .git/config.worktree",
    happened: "test -e .git/config.worktree",
  },
  { name: "present .envrc", command: "echo evil >> .envrc", happened: "grep -q evil .envrc" },
  { name: "present .envrc by rename", command: "echo evil > e; mv -f e .envrc", happened: "grep -q evil .envrc" },
  { name: "new .mcp.json", command: "echo x > .mcp.json", happened: "test -e .mcp.json" },
  { name: "new .gitmodules", command: "echo x > .gitmodules", happened: "test -e .gitmodules" },
  { name: "new .vscode", command: "mkdir -p .vscode && echo x > .vscode/tasks.json", happened: "test -e .vscode" },
  { name: "new .galley", command: "mkdir -p .galley && echo x > .galley/hook", happened: "test -e .galley" },
  { name: "new .idea as a link", command: "rmdir .idea 2>/dev/null; ln -s /etc .idea", happened: "test -L .idea" },
  { name: "new .pi", command: "mkdir -p .pi && echo x > .pi/x", happened: "test -e .pi" },
  {
    name: "new repository with a hook",
    command:
      'git init -q "$SECOND" && echo x > "$SECOND/.git/hooks/post-checkout" && git -C "$SECOND" config alias.x "!evil"',
    happened: 'test -e "$SECOND/.git/hooks/post-checkout" || grep -q evil "$SECOND/.git/config"',
  },
  {
    name: "new repository elsewhere",
    command: 'echo "gitdir: $OUT/evil" > "$SECOND/.git"',
    happened: 'test -e "$SECOND/.git"',
  },
  // What only root owns.
  {
    name: "kernel settings",
    only: "root",
    command: "v=$(cat /proc/sys/vm/swappiness) && echo $v > /proc/sys/vm/swappiness && echo ESCAPED",
  },
  {
    name: "kernel settings of user namespaces",
    only: "root",
    command:
      "v=$(cat /proc/sys/user/max_user_namespaces) && echo $v > /proc/sys/user/max_user_namespaces && echo ESCAPED",
  },
  { name: "magic keys", only: "root", command: "echo h > /proc/sysrq-trigger && echo ESCAPED" },
  { name: "modes of devices", only: "root", command: "chmod 666 /dev/null && echo ESCAPED" },
  { name: "system files", only: "root", command: "chmod u+r /etc/hosts && echo ESCAPED" },
  {
    name: "control groups",
    only: "root",
    command:
      'd=$(find /sys/fs/cgroup -maxdepth 1 -type d | tail -1); mkdir "$d/galley-escape" && rmdir "$d/galley-escape" && echo ESCAPED',
  },
];

export const shortEscapes = escapes.filter(({ name }) => short.has(name));
