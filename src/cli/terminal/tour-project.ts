// The scratch project of `/tour`: a small shop in the temporary directory, gone when the tour ends.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const files: Readonly<Record<string, string>> = {
  "src/cart.js": `import { add } from "./add.js";

// What the customer pays.
export function total(items) {
  return items.reduce(add, 0);
}

// Lines of a receipt.
export function receipt(items) {
  const lines = items.map((item) => \`\${item.name}  \${item.price}\`);
  return [...lines, "-----"].join("\\n");
}

// With the tax that is due.
export function withTax(items, rate) {
  return total(items) * (1 + rate);
}
`,
  "src/add.js": `export const add = (sum, item) => sum + item.price;
`,
};

export function createTourProject(): { directory: string; remove(): void } {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "galley-tour-")));
  mkdirSync(join(directory, "src"));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(directory, path), text);
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
