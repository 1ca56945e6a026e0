// Canaries: secrets made for one run, and the doors by which a user hands them to galley. Beside each goes a decoy, a text
// of the same kind that nobody told galley about: where the decoy shows, the canary would have shown.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Numbers that are the same for the same seed. */
export function randomFrom(seed) {
  let state = seed >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789";

/** Of the letters of keys, or with what forms of writing change. */
export function canary(random, { isOdd = false } = {}) {
  const text = (length) => Array.from({ length }, () => letters[random(letters.length)]).join("");
  return isOdd ? `${text(9)}"${text(3)}\\${text(3)}%&<${text(3)}é ${text(9)}` : `${text(14)}-${text(6)}_${text(16)}`;
}

const provider = (url, fields) => ({
  providers: { door: { baseUrl: url, api: "anthropic-messages", models: [{ id: "m", reasoning: true }], ...fields } },
});

/** The file has to name some key, and any other door comes before it. */
const unset = { apiKey: "$DOOR_NOT_SET" };

/** What to write and to pass for each. `home` is the agent directory; `outside` is not looked at afterwards. */
const doors = {
  "a literal": ({ url, secret }) => ({ models: provider(url, { apiKey: secret }) }),
  $NAME: ({ url, secret }) => ({ models: provider(url, { apiKey: "$DOOR_PIN" }), env: { DOOR_PIN: secret } }),
  "!command": ({ url, secret, outside }) => {
    const script = join(outside, "key.sh");
    writeFileSync(script, `#!/bin/sh\nprintf '%s' '${secret}'\n`);
    chmodSync(script, 0o700);
    return { models: provider(url, { apiKey: `!${script}` }) };
  },
  "a header": ({ url, secret }) => ({
    models: provider(url, { apiKey: "not-this-one", headers: { "x-door-token": secret } }),
  }),
  "auth.json": ({ url, secret, agentDir }) => {
    const file = join(agentDir, "auth.json");
    writeFileSync(file, JSON.stringify({ door: { type: "api_key", key: secret } }), { mode: 0o600 });
    return { models: provider(url, unset) };
  },
  "--api-key": ({ url, secret }) => ({ models: provider(url, unset), args: ["--api-key", secret] }),
  "the provider's variable": ({ url, secret }) => {
    const models = { providers: { anthropic: { ...provider(url, unset).providers.door } } };
    return { models, model: "anthropic/m", env: { ANTHROPIC_API_KEY: secret } };
  },
  "a variable named like a password": ({ url, secret }) => ({
    models: provider(url, { apiKey: "not-this-one" }),
    env: { SHOP_PASSWORD: secret },
    isOdd: true,
  }),
};

export const doorNames = Object.keys(doors);
/** Known only to the process that used it. */
export const lateDoors = new Set(["!command", "--api-key"]);
export const oddDoors = new Set(["a variable named like a password"]);

/** Makes the home of one visit; answers how to start the program there. */
export function openDoor(name, { url, secret, directory }) {
  const [home, outside] = [join(directory, "home"), join(directory, "outside")];
  const agentDir = join(home, ".galley/agent");
  const project = join(home, "project");
  for (const path of [agentDir, project, outside, join(agentDir, "extensions")]) mkdirSync(path, { recursive: true });
  const { models, model = "door/m", env = {}, args = [] } = doors[name]({ url, secret, outside, agentDir });
  writeFileSync(join(agentDir, "models.json"), JSON.stringify(models));
  return {
    home,
    agentDir,
    project,
    args: ["--model", model, ...args],
    env: { PATH: process.env.PATH, HOME: home, GALLEY_LOG: "debug", ...env },
  };
}
