/** What people and hosts call a change, of the name that its transaction has in the journal. */
export function changeIdOf(txid: string): string {
  return `ch_${txid.slice(0, 8)}`;
}
