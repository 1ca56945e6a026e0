// A unified diff with its lines coloured.

type Kind = "add" | "del" | "hunk" | "file" | "same";

/** A longer one stays plain: colours would be most of the page. */
const maxColouredLength = 500_000;

/** `write` makes text safe. */
export function renderDiff(diff: string, write: (text: string) => string): string {
  if (diff.length > maxColouredLength) return `<pre class="diff">${write(diff)}</pre>`;
  let html = "";
  let group: string[] = [];
  let groupKind: Kind = "same";
  const flush = () => {
    const text = group.map((line) => `${line}\n`).join("");
    if (group.length > 0) html += `<span class="${groupKind}">${write(text)}</span>`;
    group = [];
  };
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const kind = kindOf(line);
    if (kind !== groupKind) flush();
    groupKind = kind;
    group.push(line);
  }
  flush();
  return `<pre class="diff">${html}</pre>`;
}

function kindOf(line: string): Kind {
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("--- ") || line.startsWith("+++ ")) return "file";
  if (line.startsWith("+")) return "add";
  return line.startsWith("-") ? "del" : "same";
}
