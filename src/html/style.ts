// How the page looks: on a wide screen, on a phone, in the dark, on paper. No script: what folds is `details`, and what
// hides is a check box. The content policy names the hash of exactly this text.

export const style = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #1f2328; --soft: #62676e; --line: #e2dfd8; --link: #0b5cad;
  --user: #eef3fa; --user-line: #b9cfe8; --code: #f3f1ec; --accent: #8a5a2b;
  --bad: #b3261e; --bad-back: #fdeceb; --add: #12602f; --add-back: #e4f5e9; --del: #96231c; --del-back: #fcebea; --hunk: #5b4bb0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181b; --card: #1d2024; --ink: #dfe2e6; --soft: #9aa1a9; --line: #33383e; --link: #7db7f5;
    --user: #1d2733; --user-line: #35506e; --code: #25292e; --accent: #d9a066;
    --bad: #f2938c; --bad-back: #3a1f1e; --add: #8fdba9; --add-back: #17301f; --del: #f2a6a0; --del-back: #3a2120; --hunk: #b3a7f2;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.page { max-width: 54rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; overflow-wrap: anywhere; }
a { color: var(--link); }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .75rem; letter-spacing: -.01em; }
h2 { font-size: .8rem; font-weight: 600; margin: 0 0 .4rem; color: var(--soft); }
h3, h4, h5, h6 { line-height: 1.3; margin: 1.2em 0 .4em; font-size: 1rem; }
h3 { font-size: 1.25rem; } h4 { font-size: 1.1rem; }
header { border-bottom: 1px solid var(--line); padding-bottom: 1rem; margin-bottom: 1.5rem; }
header dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; font-size: .875rem; }
dt { color: var(--soft); } dd { margin: 0; min-width: 0; }
nav, .filters { font-size: .875rem; margin-top: 1rem; }
nav ol { margin: .5rem 0 0; padding-left: 1.75rem; } nav a { text-decoration: none; } nav a:hover { text-decoration: underline; }
.filters label { margin-right: 1.25rem; color: var(--soft); cursor: pointer; }
.filters input { accent-color: var(--accent); vertical-align: -.1em; }
body:has(#show-tools:not(:checked)) .tool, body:has(#show-thinking:not(:checked)) .thinking { display: none; }
time, .model { font-weight: 400; } h2 time { float: right; font-variant-numeric: tabular-nums; } .model::before { content: "· "; }
article { margin: 0 0 1rem; }
article.user, article.custom, article.execution { border: 1px solid var(--line); border-radius: .6rem; background: var(--card); padding: .75rem 1rem; margin: 1.75rem 0 1.25rem; }
article.user { background: var(--user); border-color: var(--user-line); }
pre, code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .85em; tab-size: 4; }
code { background: var(--code); border-radius: .3em; padding: .1em .3em; unicode-bidi: isolate; }
pre { background: var(--code); border-radius: .5rem; padding: .7rem .9rem; margin: .5rem 0; overflow: auto; line-height: 1.5; }
pre code { background: none; padding: 0; font-size: 1em; }
pre.plain { white-space: pre-wrap; }
article.user pre.plain, article.custom pre.plain, .prose > pre.plain { font: inherit; background: none; padding: 0; margin: 0; }
.prose > :first-child { margin-top: 0; } .prose > :last-child { margin-bottom: 0; } .prose { margin-bottom: .75rem; }
.prose ul, .prose ol { padding-left: 1.6rem; } .prose li { margin: .2em 0; }
blockquote { margin: .75em 0; padding: 0 0 0 1rem; border-left: 3px solid var(--line); color: var(--soft); }
table { display: block; overflow: auto; border-collapse: collapse; font-size: .925em; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; } .right { text-align: right; } .center { text-align: center; }
hr { border: 0; border-top: 1px solid var(--line); margin: 1.5em 0; }
img { display: block; max-width: 100%; height: auto; margin: .5rem 0; border: 1px solid var(--line); border-radius: .4rem; }
summary { cursor: pointer; }
details.tool, details.summary, details.thinking, details.live { margin: .5rem 0; font-size: .9rem; }
details.tool { border: 1px solid var(--line); border-left: 3px solid var(--accent); border-radius: .4rem; background: var(--card); padding: .4rem .75rem; }
details.tool.error { border-left-color: var(--bad); }
details.tool > summary { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; } details.tool[open] > summary { white-space: normal; margin-bottom: .4rem; }
details.tool dl { display: grid; grid-template-columns: minmax(4rem, max-content) minmax(0, 1fr); gap: .2rem .75rem; margin: 0; font-size: .9em; }
details.tool dd pre { margin: 0; } details.tool pre { max-height: 30rem; }
details.thinking > summary, details.summary > summary, details.live > summary, nav summary { color: var(--soft); }
details.thinking .prose { border-left: 2px solid var(--line); padding-left: 1rem; color: var(--soft); margin-top: .4rem; }
details.summary { border-top: 1px dashed var(--line); border-bottom: 1px dashed var(--line); padding: .5rem 0; }
.output { border-top: 1px solid var(--line); margin-top: .5rem; }
.command { font-weight: 600; white-space: pre-wrap; }
.diff { padding: .5rem 0; } .diff span { display: block; padding: 0 .9rem; min-width: max-content; }
.add { color: var(--add); background: var(--add-back); } .del { color: var(--del); background: var(--del-back); }
.hunk { color: var(--hunk); } .file { font-weight: 600; }
.note { color: var(--soft); font-size: .85rem; margin: .5rem 0; } .mark { color: var(--soft); font-size: .85em; } .bad { color: var(--bad); }
.label { display: inline-block; margin: 1rem 0 0; font-size: .75rem; border: 1px solid var(--accent); color: var(--accent); border-radius: 1rem; padding: 0 .6rem; }
.problem { color: var(--bad); background: var(--bad-back); border-radius: .4rem; padding: .5rem .75rem; white-space: pre-wrap; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .8rem; }
@media (max-width: 36rem) {
  .page { padding: 1.25rem .9rem 3rem; } h1 { font-size: 1.35rem; } h2 time { float: none; }
  header dl, details.tool dl { grid-template-columns: minmax(0, 1fr); gap: 0; } header dd, details.tool dd { margin-bottom: .4rem; }
}
@media print {
  :root { --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --user: #fff; --code: #f5f5f5; --link: #000; }
  body { font-size: 10.5pt; } .page { max-width: none; padding: 0; } nav, .filters { display: none; }
  details.tool pre { max-height: none; } pre { white-space: pre-wrap; } .diff span { min-width: 0; }
  details::details-content { content-visibility: visible; block-size: auto; } summary { list-style: none; }
  .prose a[href]::after { content: " (" attr(href) ")"; font-size: .85em; }
  h2, summary { break-after: avoid; } tr, img { break-inside: avoid; }
}
`;
