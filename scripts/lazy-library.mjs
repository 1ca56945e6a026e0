// The library that draws, so that a start evaluates only what its first frame needs: each of its files is evaluated when
// something of it is first used, and its largest regular expression is made when it is first asked. Stops at a version of
// the library that is written in another way.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const emoji = "const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;";
const lazyEmoji =
  "let emojiRegex; const rgiEmojiRegex = { test: (text) => (emojiRegex ??= /^\\p{RGI_Emoji}$/v).test(text) };";

/** An entry for esbuild in place of the library's own, which evaluates everything, and the plugin that it takes. */
export function lazyLibrary(name) {
  const index = require.resolve(name);
  const directory = dirname(index);
  const files = [...readFileSync(index, "utf8").matchAll(/^export \{ ([^}]+?),? \} from "(\.\/[^"]+)";$/gm)];
  if (files.length < 15) throw new Error(`${index}: its exports are written in a way that the build does not know.`);
  const getters = files.flatMap(([, names, file]) =>
    names
      .split(", ")
      .map((each) => `get ${each}() { return require(${JSON.stringify(join(directory, file))}).${each}; }`),
  );
  // `__esModule` before the rest: without it a reader would copy every export, and so evaluate all files.
  const contents = `module.exports = { __esModule: true, ${getters.join(", ")} };`;
  return {
    stdin: { contents, resolveDir: directory, sourcefile: "lazy-library.cjs" },
    plugins: [laterEmoji(directory)],
  };
}

/** V8 takes as long to read this one as to read the rest of the library. */
function laterEmoji(directory) {
  const path = join(directory, "utils.js");
  return {
    name: "later-emoji",
    setup(build) {
      build.onLoad({ filter: /[\\/]utils\.js$/ }, (file) => {
        if (file.path !== path) return undefined;
        const text = readFileSync(path, "utf8");
        if (!text.includes(emoji)) throw new Error(`${path}: the regular expression of emoji is not where it was.`);
        return { contents: text.replace(emoji, () => lazyEmoji), loader: "js" };
      });
    },
  };
}
