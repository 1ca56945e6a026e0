// Words of a command line that a hint gives to copy.

/** As a shell takes it for this one word: in quotes, where it needs them. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
