import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { installedPackages } from "./installed-packages.js";

const agentDir = () => {
  const path = join(temporaryDirectory(), ".pi/agent");
  mkdirSync(path, { recursive: true });
  return path;
};

it("finds what pi installed, by each form of its list", () => {
  const agent = agentDir();
  const places: Record<string, string> = {
    "npm:@s/pack@1.2.3": "npm/node_modules/@s/pack",
    "git:github.com/owner/pack@v1": "git/github.com/owner/pack",
    "https://github.com/owner/other.git": "git/github.com/owner/other",
    "git:git@example.org:owner/third": "git/example.org/owner/third",
    "./local": "local",
  };
  for (const place of Object.values(places)) mkdirSync(join(agent, place), { recursive: true });
  writeFileSync(join(agent, "settings.json"), JSON.stringify({ packages: Object.keys(places) }));
  expect(installedPackages(agent)).toEqual(Object.values(places).map((place) => ({ path: join(agent, place) })));
});

it("says how to install what is missing, and is silent about what is no list", () => {
  const agent = agentDir();
  const write = (text: string) => writeFileSync(join(agent, "settings.json"), text);
  write(JSON.stringify({ packages: ["npm:gone", "git:github.com/owner/gone", "./gone", 5, { skills: [] }] }));
  expect(installedPackages(agent).map(({ path, problem }) => `${path}: ${problem}`)).toEqual([
    `npm:gone: This package is not installed. Install it with: npm install --prefix ${agent}/npm gone`,
    `git:github.com/owner/gone: This package is not installed. Clone it with: git clone https://github.com/owner/gone ${agent}/git/github.com/owner/gone`,
    "./gone: No such file or directory",
  ]);
  for (const text of ["{", "[]", '{"packages": "npm:gone"}']) {
    write(text);
    expect(installedPackages(agent)).toEqual([]);
  }
  expect(installedPackages(temporaryDirectory())).toEqual([]);
});
