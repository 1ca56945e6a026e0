// What a view needs of programs. This folder starts none: the functions are handed in, and
// `processes/sandbox/view-holder.ts` has them. The text of the process that holds a view is here.

/** The process whose namespaces hold the mounts. They vanish with it. */
export interface ViewHolder {
  readonly pid: number;
  /** False once it has ended, for whatever reason: its pid may then be that of another process. */
  isAlive(): boolean;
  /** Resolves when it has ended. */
  end(): Promise<void>;
}

/**
 * Runs the text in a user and mount namespace of its own, as a process that ends with galley. Resolves once it says that
 * it is ready. Throws `start_failed` with what it said instead, or `not_found` for a missing program.
 */
export type StartHolder = (request: {
  readonly script: string;
  readonly args: readonly string[];
}) => Promise<ViewHolder>;

/** Runs a program in the view, not confined: fixed arguments only. Throws where it does not start or takes too long. */
export type RunInView = (request: {
  readonly holder: number;
  readonly cwd: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input: Uint8Array;
  readonly timeoutMs: number;
}) => Promise<{ readonly exitCode: number; readonly stdout: Uint8Array }>;

/** One mount: four arguments of the text. */
export interface ViewMount {
  /** `probe`: an overlay that is also asked whether a directory can be deleted and made again. */
  readonly kind: "overlay" | "copy" | "probe";
  /** The directory with `up`, and for an overlay `work` and `lower`, a link to the root. */
  readonly layer: string;
  readonly root: string;
  /** A random name in `up`. */
  readonly marker: string;
}

export function mountArguments(mounts: readonly ViewMount[]): string[] {
  return mounts.flatMap(({ kind, layer, root, marker }) => [kind, layer, root, marker]);
}

/**
 * The options are relative to the layer, so that no character of a path can mean anything in them. A mount that fails or
 * only says that it worked must never leave the command on the real tree: the text goes on only if it sees the marker,
 * which is in the layer alone. Then it waits for the end of its input, which is galley's end at the latest.
 */
export const holderScript = `
set -eu
while [ $# -gt 0 ]; do
  cd -- "$2"
  case $1 in
    copy) mount --bind up "$3" ;;
    *) mount -t overlay -o lowerdir=lower,upperdir=up,workdir=work,userxattr,index=off galley "$3" ;;
  esac
  cd -- "$3"
  [ -f "./$4" ] || { echo "mount had no effect" >&2; exit 70; }
  rm -f "./$4"
  [ ! -e "./$4" ] || { echo "the mount cannot be written" >&2; exit 70; }
  if [ "$1" = probe ]; then
    rm -r ./old
    mkdir ./old
    [ ! -e ./old/file ] || { echo "deleted files come back" >&2; exit 70; }
  fi
  shift 4
done
cd /
echo ready
read -r line || :
`;
