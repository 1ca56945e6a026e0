// Session files that want to get out of the page they are exported to. Every field of every kind of entry may hold an
// attack; the rest of the entry is as it should be, so that the attack is shown.

import { randomFrom } from "../kit-session/random.mjs";

/** What a page must not do. `/hit` is watched by the trap server; the flag is looked at afterwards. */
const deeds = ["window.__ran=1", "alert(1)", "fetch('/hit')", "document.title='ran'", "top.location='/hit'"];

const wrappers = [
  (js) => `<script>${js}</script>`,
  (js) => `</style><script>${js}</script>`,
  (js) => `</title><script>${js}</script>`,
  (js) => `"><script>${js}</script>`,
  (js) => `'"><img src=/hit onerror="${js}">`,
  (js) => `<svg onload="${js}"></svg>`,
  (js) => `<svg><style><img src=x onerror=${js}></style></svg>`,
  (js) => `<math><mtext><table><mglyph><style><img src=x onerror=${js}>`,
  (js) => `<details open ontoggle="${js}">`,
  (js) => `<body onload="${js}">`,
  (js) => `<iframe srcdoc="<script>${js}</script>"></iframe>`,
  (js) => `<iframe src="javascript:${js}"></iframe>`,
  (js) => `" autofocus onfocus="${js}" x="`,
  (js) => `' onmouseover='${js}`,
  (js) => `[click](javascript:${js})`,
  (js) => `[click](java\tscript:${js})`,
  (js) => `[click](&#106;avascript:${js})`,
  (js) => `[click](data:text/html,<script>${js}</script>)`,
  (js) => `[a]: javascript:${js}\n\n[a]`,
  (js) => `<javascript:${js}>`,
  (js) => `![x](x"onerror="${js})`,
  (js) => `[x](https://example.org/"onmouseover="${js} "title'${js}")`,
  (js) => `\`\`\`"><script>${js}</script>\n</code></pre><script>${js}</script>\n\`\`\``,
  (js) => `|a|\n|-|\n|<img src=x onerror=${js}>|`,
  (js) => `<!--><script>${js}</script>-->`,
  (js) => `<![CDATA[<script>${js}</script>]]>`,
  (js) => `<<script>${js}//<</script>`,
  (js) => `\u0000<scr\u0000ipt>${js}</script>`,
  (js) => `\u2028<script>${js}</script>\u202e`,
  (js) => `image/png"onerror="${js}`,
  (js) => `data:image/svg+xml,<svg onload=${js}>`,
];

const loaders = [
  "<img src=/hit>",
  "![x](/hit)",
  "![x](http://127.0.0.1/hit)",
  '<link rel=stylesheet href="/hit">',
  "<style>@import '/hit';</style>",
  '<meta http-equiv=refresh content="0;url=/hit">',
  "<base href=//127.0.0.1/hit>",
  "<video src=/hit autoplay>",
  "<object data=/hit></object>",
  "<form action=/hit><button autofocus>",
  "<template><img src=/hit></template>",
  '"style="background:url(/hit)',
];

/** Stands for a number that JSON can write and no one can count. */
const endless = "~endless~";

/** Values that are no text where a text is expected. */
const oddValues = [null, true, -1, 9e15, endless, "", [], {}, [[["x"]]], ["\ud800"]];
oddValues.push({ toString: 1 }, JSON.parse('{"__proto__":{"x":1},"constructor":2}'));

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const svg = Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' onload='window.__ran=1'/>").toString("base64");

/** The text of a session file, the same for the same seed. */
export function hostileSession(seed) {
  const random = randomFrom(seed);
  const attack = () => {
    const parts = Array.from({ length: 1 + random.below(3) }, () =>
      random.below(4) === 0 ? random.pick(loaders) : random.pick(wrappers)(random.pick(deeds)),
    );
    return parts.join(random.pick([" ", "\n", "\n\n", ""]));
  };
  /** Mostly an attack; now and then something that is no text at all. */
  const any = () => (random.below(12) === 0 ? random.pick(oddValues) : attack());
  const maybe = (value) => (random.below(3) === 0 ? any() : value);
  const image = () => ({
    type: "image",
    mimeType: any(),
    data: random.pick([png, svg, attack(), `blob:sha256:${attack()}`, Buffer.from(attack()).toString("base64")]),
  });
  const input = () =>
    random.below(4) === 0 ? any() : Array.from({ length: random.below(4) }, () => (random.below(3) ? text() : image()));
  const text = () => ({ type: "text", text: any(), textSignature: any() });
  const call = () => ({
    type: "toolCall",
    id: random.pick(["c1", attack()]),
    name: any(),
    intent: maybe(undefined),
    arguments: random.pick([{}, { path: any(), [attack()]: any(), list: [any()] }, { command: attack() }]),
  });
  const usage = () => ({ input: maybe(1), output: maybe(1), totalTokens: 2, cost: { total: maybe(0.1) } });
  const reply = () => [
    text(),
    call(),
    { type: "thinking", thinking: any() },
    { type: "redactedThinking", data: any() },
  ];
  const messages = [
    () => ({ role: "user", content: input(), attribution: any(), synthetic: any() }),
    () => ({ role: "developer", content: input() }),
    () => ({
      role: "assistant",
      content: reply(),
      api: any(),
      provider: any(),
      model: any(),
      usage: usage(),
      stopReason: random.pick(["stop", "error", "aborted", "length", attack()]),
      errorMessage: any(),
    }),
    () => ({
      role: "toolResult",
      toolCallId: random.pick(["c1", attack()]),
      toolName: any(),
      content: input(),
      details: random.pick([any(), { diff: any() }, { diff: `+${attack()}\n-${attack()}\n@@ ${attack()}` }]),
      isError: maybe(false),
    }),
    () => ({
      role: "bashExecution",
      command: any(),
      output: any(),
      exitCode: any(),
      cancelled: any(),
      truncated: any(),
    }),
    () => ({ role: "pythonExecution", code: any(), output: any(), exitCode: any() }),
    () => ({ role: "custom", customType: any(), content: input(), display: true, details: any() }),
    () => ({ role: "compactionSummary", summary: any(), tokensBefore: any() }),
    () => ({ role: "branchSummary", summary: any(), fromId: any() }),
    () => ({ role: "fileMention", files: [{ path: any(), content: any(), image: random.pick([undefined, image()]) }] }),
    () => ({ role: attack(), content: attack() }),
  ];
  const entries = [
    () => ({ type: "message", message: { timestamp: maybe(1_767_600_000_000), ...random.pick(messages)() } }),
    () => ({ type: "message", message: { timestamp: maybe(8.64e15 + 1), ...random.pick(messages)() } }),
    () => ({ type: "model_change", model: any(), role: any() }),
    () => ({ type: "model_change", provider: any(), modelId: any() }),
    () => ({ type: "thinking_level_change", thinkingLevel: any() }),
    () => ({ type: "compaction", summary: any(), firstKeptEntryId: any(), tokensBefore: any(), details: any() }),
    () => ({ type: "branch_summary", summary: any(), fromId: any() }),
    () => ({ type: "custom_message", customType: any(), content: input(), display: true }),
    () => ({ type: "label", targetId: random.pick(ids), label: any() }),
    () => ({ type: "session_info", name: any(), source: any() }),
    () => ({ type: attack(), [attack()]: any() }),
  ];
  const ids = [attack()];
  const lines = [{ type: "session", version: 3, id: attack(), timestamp: any(), cwd: any(), title: maybe(undefined) }];
  const count = 4 + random.below(12);
  for (let index = 0; index < count; index++) {
    const id = random.below(2) === 0 ? `e${index}` : `${attack()}${index}`;
    const parentId = index === 0 ? null : ids.at(-1);
    const kind = random.below(3) === 0 ? random.pick(entries) : random.pick(entries.slice(0, 2));
    lines.push({ ...kind(), id, parentId, timestamp: maybe("2026-01-05T08:00:01.000Z") });
    ids.push(id);
  }
  return lines.map((line) => `${JSON.stringify(line).replaceAll(`"${endless}"`, "1e999")}\n`).join("");
}
