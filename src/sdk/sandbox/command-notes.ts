// What the reader of a confined command's output is told about its confinement: what was taken away, what was blocked, and
// whether the sandbox may be the cause of a failure. Pure.

import type { BoxRules } from "../../processes/sandbox/box.js";
import type { CommandEnd } from "../../tools/confinement.js";
import { count } from "../../tools/output/text.js";

export interface NoteContext {
  /** The model can ask with `escalate`: not in the view, which a yes would bypass, nor for a command of the user. */
  readonly mayEscalate: boolean;
  readonly mode: BoxRules["mode"];
}

export function confinedNotes(end: CommandEnd, context: NoteContext): string[] {
  const { removed = [], blocked = [] } = end.report ?? {};
  return [
    ...removed.map((path) => `Removed ${path}: protected path.`),
    ...blocked.map(({ host, times }) => `Network: blocked ${host} (${count(times, "time")}).`),
    ...causeNotes(end, context),
  ];
}

const readOnlySign = /Read-only file system|\bEROFS\b/;

/** By what the command printed; the first that fits. */
const causes: readonly {
  readonly sign: RegExp;
  readonly only?: BoxRules["mode"];
  readonly what: string;
  readonly key: string;
}[] = [
  { sign: readOnlySign, only: "read-only", what: "only temporary files can be written", key: "access" },
  { sign: readOnlySign, what: "only the project can be written", key: "workspace.roots" },
  {
    sign: /(?:listen|bind|connect|socket).{0,200}(?:EPERM|Operation not permitted)|EPERM.{0,200}\.(?:sock|pipe)\b/,
    what: "sockets are limited",
    key: "bash.unixSockets",
  },
  {
    sign: /Could not resolve host|Temporary failure in name resolution|Name or service not known|\bEAI_AGAIN\b|getaddrinfo (?:ENOTFOUND|EAI_)|Network is unreachable|\bENETUNREACH\b/,
    what: "there is no network",
    key: "bash.network",
  },
];

function causeNotes({ exitCode, printed, report }: CommandEnd, { mayEscalate, mode }: NoteContext): string[] {
  if (exitCode === 0) return [];
  const isBlocked = (report?.blocked.length ?? 0) > 0;
  const cause = isBlocked
    ? { what: "a host is not allowed", key: "bash.hosts" }
    : causes.find(({ sign, only }) => sign.test(printed) && (only ?? mode) === mode);
  if (!cause) return [];
  const way = mayEscalate ? `Ask with escalate, or the user can set ${cause.key}.` : `The user can set ${cause.key}.`;
  return [`The sandbox may be the cause: ${cause.what}. ${way}`];
}
