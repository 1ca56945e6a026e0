// The watcher's program, for any POSIX shell: dash, bash and busybox alike. Each complete line on standard input is the
// list of groups that are alive now ("pid:start pid:start"). At its end galley is gone, however that came about.
//
// Arguments: the marker of this galley, and grep and sleep by their full names (either may be empty). Nothing is looked
// up by name, and its own environment is empty, so the sweep never finds the watcher itself.

export const reaperScript = `
trap '' HUP INT QUIT TERM PIPE
marker=$1 grep=$2 sleep=$3 groups=

# Start time and group of process $1; empty if it is gone. The name in the middle may hold anything, line ends too.
started() {
  start= group= stat=
  { while read -r part || [ -n "$part" ]; do stat="$stat $part"; done < "/proc/$1/stat"; } 2>/dev/null
  [ -z "$stat" ] && return
  set -- \${stat##*) }
  start=\${20} group=$3
}

# Whether process $1 carries the marker. The shell's own read skips NUL.
carries() {
  if [ -n "$grep" ]; then "$grep" -qsF -e "$marker" "/proc/$1/environ"; return; fi
  text=
  { while read -r part || [ -n "$part" ]; do text="$text$part"; done < "/proc/$1/environ"; } 2>/dev/null
  case $text in *"$marker"*) return 0 ;; esac
  return 1
}

# Who may carry it. Without grep: all that are younger than galley, because reading byte by byte is slow.
suspects() {
  if [ -n "$grep" ]; then "$grep" -lsF -e "$marker" /proc/[0-9]*/environ; return; fi
  for directory in /proc/[0-9]*; do
    started "\${directory#/proc/}"
    [ -n "$start" ] && [ "$start" -ge "$born" ] && echo "$directory/"
  done
}

# One pass over all processes; fails when it found none. A process with the marker is in a session of ours, so its
# whole group is ours, also the processes in it that cleared their environment.
sweep() {
  found=1
  for path in $(suspects); do
    pid=\${path#/proc/} pid=\${pid%%/*}
    started "$pid"
    before=$start
    carries "$pid" || continue
    started "$pid"
    [ -n "$before" ] && [ "$before" = "$start" ] || continue
    [ "$group" -gt 1 ] && kill -s KILL -- "-$group" 2>/dev/null
    kill -s KILL "$pid" 2>/dev/null && found=0
  done
  return $found
}

started "$PPID"
born=\${start:-0}
# busybox's grep may stop at the first NUL of a line.
if [ -n "$grep" ] && ! printf 'a\\0b\\n' | "$grep" -qF b; then grep=; fi

while read -r line; do groups=$line; done

for entry in $groups; do
  pid=\${entry%%:*}
  started "$pid"
  case $start in '' | "\${entry#*:}") kill -s KILL -- "-$pid" 2>/dev/null ;; esac
done

[ -r /proc/self/environ ] || exit 0
# A process may fork between the look and the signal; one clean look proves little.
clean=0 looks=0
while [ $clean -lt 3 ] && [ $looks -lt 60 ]; do
  looks=$((looks + 1))
  if sweep; then clean=0; else clean=$((clean + 1)); fi
  [ -n "$sleep" ] && "$sleep" 0.05 2>/dev/null
done
`;
