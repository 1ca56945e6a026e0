// The last step before a confined command, inside of its namespaces: a small shell that lets the network gate listen, closes
// every descriptor but the three standard ones, says that the command begins, and becomes the command.

import type { CommandLine } from "../shell.js";

export interface InnerStep {
  /** Descriptors: where the byte goes, the command's own standard error, and the channel of the gate. */
  readonly start: number;
  readonly error: number | undefined;
  readonly channel: number | undefined;
  /** For descriptors above 9, which small shells cannot name. */
  readonly bash: string | undefined;
  readonly node: string;
  readonly listenScript: string | undefined;
}

export function innerCommand({ file, args }: CommandLine, step: InnerStep): readonly string[] {
  const { start, error, channel, bash = "", node, listenScript = "" } = step;
  return [
    ...["/bin/sh", "-c", innerScript, "galley-box", String(start), String(error ?? ""), String(channel ?? "")],
    ...[bash, node, listenScript, file, ...args],
  ];
}

/** Names of our own, because the command's variables are there already. */
const closeHigh = `
for box_path in "$2"/*; do
  box_fd=\${box_path##*/}
  case $box_fd in [012] | "$0" | "$1") ;; *) eval "exec $box_fd>&-" ;; esac
done
box_start=$0 box_error=$1
shift 2`;

/** The byte is the last thing: without it the command has not run, whatever the exit code says. */
const begin = `
if [ -n "$box_error" ]; then eval "exec 2>&$box_error $box_error>&-"; fi
eval "printf x >&$box_start && exec $box_start>&-" || exit 1
unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE box_start box_error box_channel box_bash box_node box_script box_path box_fd box_high box_open
exec "$@"`;

const innerScript = `
box_start=$1 box_error=$2 box_channel=$3 box_bash=$4 box_node=$5 box_script=$6
shift 6
if [ -n "$box_channel" ]; then
  NODE_OPTIONS= NODE_CHANNEL_FD=$box_channel NODE_CHANNEL_SERIALIZATION_MODE=json \\
    "$box_node" -e "$box_script" </dev/null >/dev/null || {
    echo "the listener of the network gate ended with $?" >&2
    exit 1
  }
fi
box_high= box_open=/proc/self/fd
[ -d $box_open ] || box_open=/dev/fd
for box_path in $box_open/*; do
  box_fd=\${box_path##*/}
  case $box_fd in
    [012] | "$box_start" | "$box_error") ;;
    [3-9]) eval "exec $box_fd>&-" ;;
    *) box_high=1 ;;
  esac
done
if [ -n "$box_high" ]; then
  if [ -z "$box_bash" ]; then
    echo "galley was started with descriptors above 9, and only bash can close them" >&2
    exit 1
  fi
  exec "$box_bash" -p -c '${closeHigh}${begin}' "$box_start" "$box_error" $box_open "$@"
fi
${begin}`;
