// The frame of the page: the content policy, which comes before everything else, and the head of the session. The page
// holds no script and requests nothing, and its policy makes the browser enforce that.

import type { SessionStats } from "../protocol/data.js";
import type { SessionEntry, SessionHeader } from "../protocol/entries.js";
import { userText } from "../record/entry-tree.js";
import { anchorOf } from "./conversation.js";
import type { Renderer } from "./renderer.js";
import { style } from "./style.js";
import { renderTime } from "./time.js";

/** Marks the head of an export. */
export const exportMarker = '<meta name="generator" content="galley session export">';

/** How much of a file has to be read to see whether the marker is in it. */
export const markerBytes = 1024;

/** The beginning of the document, up to where the page's content starts. */
export async function renderHead(title: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta charset="utf-8">
${exportMarker}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="x-dns-prefetch-control" content="off">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<div class="page">
`;
}

export interface Overview {
  /** Safe already, as is `title`. */
  readonly title: string;
  readonly header: SessionHeader;
  readonly path: readonly SessionEntry[];
  readonly stats: SessionStats;
  readonly models: readonly string[];
}

export function renderHeader({ title, header, path, stats, models }: Overview, renderer: Renderer): string {
  const { input, output, cacheRead, cacheWrite } = stats.tokens;
  const rows: [string, string][] = [
    ["Session", `<code>${renderer.line(header.id)}</code>`],
    ["Started", renderTime(Date.parse(header.timestamp)).trim()],
    ["Directory", header.cwd === "" ? "" : `<code>${renderer.line(header.cwd, 300)}</code>`],
    [models.length === 1 ? "Model" : "Models", models.map((model) => renderer.line(model)).join(", ")],
    [
      "Messages",
      `${count(stats.userMessages)} from the user, ${count(stats.assistantMessages)} from the model, ${count(stats.toolCalls)} tool calls`,
    ],
    [
      "Tokens",
      `↑ ${count(input)} · ↓ ${count(output)} · cache read ${count(cacheRead)} · cache write ${count(cacheWrite)}`,
    ],
    ["Cost", `$${stats.cost.toFixed(4)}`],
  ];
  const list = rows.filter(([, value]) => value !== "").map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>\n`);
  return `<header>
<h1>${title}</h1>
<dl>
${list.join("")}</dl>
${renderContents(path, renderer)}<p class="filters"><label><input type="checkbox" id="show-tools" checked> Tools</label> <label><input type="checkbox" id="show-thinking" checked> Thinking</label></p>
</header>
<main>
`;
}

/** What the user asked, as a list to jump from. */
function renderContents(path: readonly SessionEntry[], renderer: Renderer): string {
  const items = path.flatMap((entry, index) => {
    const text = renderer.line(userText(entry) ?? "", 90);
    return text === "" ? [] : [`<li><a href="#${anchorOf(index)}">${text}</a></li>\n`];
  });
  if (items.length < 2) return "";
  return `<nav><details><summary>Contents</summary><ol>\n${items.join("")}</ol></details></nav>\n`;
}

export interface LiveSession {
  readonly systemPrompt: string;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
}

export function renderLive({ systemPrompt, tools }: LiveSession, renderer: Renderer): string {
  const rows = tools.map(
    ({ name, description }) => `<dt>${renderer.line(name, 60)}</dt><dd>${renderer.plain(description)}</dd>`,
  );
  return `<details class="live"><summary>System prompt</summary>${renderer.plain(systemPrompt)}</details>
<details class="live"><summary>Tools (${count(tools.length)})</summary><dl>${rows.join("")}</dl></details>
`;
}

/** `left` counts the entries that are not on the path. */
export function renderFoot(left: number): string {
  const branches = left === 0 ? "" : ` ${count(left)} entries of other branches are not part of this page.`;
  return `</main>
<footer>Exported by galley. Times are in UTC.${branches}</footer>
</div>
</body>
</html>
`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
