// Where a link of the page may lead. Anything that is not clearly a web or mail address is no link.

const protocols = new Set(["http:", "https:", "mailto:"]);
const maxLength = 2048;

/** The address in its normal form, which is printable ASCII; undefined for what must not be a link. */
export function safeLink(address: string): string | undefined {
  // Only absolute addresses: a relative one would depend on where the page is stored.
  if (address.length > maxLength || !/^(?:https?:\/\/|mailto:)/i.test(address)) return undefined;
  try {
    const { protocol, username, password, href } = new URL(address);
    // A user name before the host makes an address look like another one.
    const isPlain = protocols.has(protocol) && username === "" && password === "" && /^[!-~]+$/.test(href);
    return isPlain && href.length <= maxLength ? href : undefined;
  } catch {
    return undefined; // no address at all
  }
}
