// Arguments in a command line that a hint offers for copying.

/** As one shell word: quoted where needed. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
