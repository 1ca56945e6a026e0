import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { runs } from "../../../test/kit/runs.js";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { parseAssignment, readAssignment } from "./assignment.js";
import { readLayer } from "./layers.js";
import { saveSetting, unsetSetting } from "./save-setting.js";

let directory: string;
let file: string;
beforeEach(() => {
  directory = temporaryDirectory();
  file = join(directory, "config.yml");
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const save = (...words: string[]) => saveSetting(file, parseAssignment(words.join("=")));
const text = () => readFileSync(file, "utf8");
const edit = async (before: string, word: string) => {
  writeFileSync(file, before);
  await save(word);
  return text();
};

describe("saveSetting", () => {
  it("makes the file and its directory, for this user only", async () => {
    file = join(directory, "new", "agent", "config.yml");
    await save("retry.maxRetries=5");
    expect(text()).toBe("retry:\n  maxRetries: 5\n");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, "new")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(directory, "new", "agent"))).toEqual(["config.yml"]);
  });

  it("keeps comments, order, quotes, indentation and everything it does not know", async () => {
    const before = [
      "# my settings",
      "",
      "steeringMode: 'all' # both",
      "retry: # patience",
      "    # how often",
      "    maxRetries: 3 # few",
      "    enabled: true",
      "extensions:",
      "- a.ts",
      "- b.ts # second",
      "theme: {dark: night, colors: [1, 2]}",
      'unknown: "x"',
      "empty:",
      "# the end",
      "",
    ].join("\n");
    expect(await edit(before, "retry.maxRetries=5")).toBe(before.replace("maxRetries: 3", "maxRetries: 5"));
    expect(await edit(before, "steeringMode=one-at-a-time")).toBe(before.replace("'all'", "one-at-a-time"));
    expect(await edit(before, "retry.baseDelayMs=7")).toBe(
      before.replace("    enabled: true\n", "    enabled: true\n    baseDelayMs: 7\n"),
    );
    expect(await edit(before, "autoResume=on")).toBe(before.replace("empty:\n", "empty:\nautoResume: true\n"));
  });

  it("changes lists and records in the form they have", async () => {
    expect(await edit("extensions: # mine\n  - a.ts\ntopK: 1\n", "extensions=b.ts,c.ts")).toBe(
      "extensions: # mine\n  - b.ts\n  - c.ts\ntopK: 1\n",
    );
    expect(await edit("extensions:\n- a.ts # old\n# next\ntopK: 1\n", "extensions=")).toBe(
      "extensions:\n  []\n# next\ntopK: 1\n",
    );
    expect(await edit("extensions: [ a.ts ] # mine\n", "extensions=b.ts, a b")).toBe(
      'extensions: [b.ts, "a b"] # mine\n',
    );
    expect(await edit("extensions: a.ts # wrong\n", "extensions=b.ts")).toBe("extensions: [b.ts] # wrong\n");
    expect(await edit("# c\nautoResume: |\n  wrong\n\n# d\n", "autoResume=1")).toBe("# c\nautoResume: true\n\n# d\n");
  });

  it("adds to maps in the form they have", async () => {
    expect(await edit("retry: { enabled: true } # r\n", "retry.maxRetries=5")).toBe(
      "retry: { enabled: true, maxRetries: 5 } # r\n",
    );
    expect(await edit("{}", "todo.reminders.max=4")).toBe("{todo: {reminders: {max: 4}}}");
    expect(await edit("todo:\n  eager: false # e\n  # more\ntopK: 1", "todo.reminders.max=4")).toBe(
      "todo:\n  eager: false # e\n  reminders:\n    max: 4\n  # more\ntopK: 1",
    );
    expect(await edit("---\ntopK: 1\n...\n", "topP=1")).toBe("---\ntopK: 1\ntopP: 1\n...\n");
  });

  it("keeps line ends", async () => {
    expect(await edit("# a\r\nsteeringMode: all\r\n", "followUpMode=all")).toBe(
      "# a\r\nsteeringMode: all\r\nfollowUpMode: all\r\n",
    );
  });

  it("adds to an empty file and to one of comments only", async () => {
    expect(await edit("", "todo.eager=1")).toBe("todo:\n  eager: true\n");
    expect(await edit("# mine\n", "todo.eager=1")).toBe("# mine\ntodo:\n  eager: true\n");
    expect(await edit("# mine", "topK=1")).toBe("# mine\ntopK: 1\n");
    expect(await edit("todo: # t\n# n\n", "todo.eager=1")).toBe("todo: # t\n  eager: true\n# n\n");
    expect(await edit("topK: # t\n", "topK=5")).toBe("topK: 5 # t\n");
  });

  it.each([
    ["todo.eager: false\n", "todo.eager=1", "todo.eager: true\n"],
    ["todo:\n  reminders.max: 1\n", "todo.reminders.max=4", "todo:\n  reminders.max: 4\n"],
    ["todo.reminders:\n  max: 1\n", "todo.reminders.max=4", "todo.reminders:\n  max: 4\n"],
    ["todo.eager: false\ntodo:\n  eager: false\n", "todo.eager=1", "todo.eager: true\ntodo:\n  eager: true\n"],
  ])("finds the setting however it is spelled: %j", async (before, word, after) => {
    expect(await edit(before, word)).toBe(after);
  });

  it.each([
    ["todo:\n  reminders: false\n", "todo.reminders.max=5", "todo:\n  reminders: false\n  reminders.max: 5\n"],
    [
      "todo:\n  reminders:\n    max: 5\n",
      "todo.reminders=no",
      "todo:\n  reminders:\n    max: 5\ntodo.reminders: false\n",
    ],
    ["todo.reminders:\n  max: 5\n", "todo.reminders=no", "todo.reminders:\n  max: 5\ntodo:\n  reminders: false\n"],
    ["todo.reminders: true\n", "todo.reminders.max=5", "todo.reminders: true\ntodo:\n  reminders:\n    max: 5\n"],
  ])("keeps overlapping settings apart: %j, %s", async (before, word, after) => {
    expect(await edit(before, word)).toBe(after);
    expect([...readLayer(parse(after), file).values.keys()].sort()).toEqual(["todo.reminders", "todo.reminders.max"]);
  });

  it("sets a record whole or by member", async () => {
    expect(await edit("modelRoles:\n  a: x # one\n", "modelRoles.b=c/d")).toBe("modelRoles:\n  a: x # one\n  b: c/d\n");
    expect(await edit("modelRoles:\n  a: x\n", 'modelRoles={"c":"z"}')).toBe("modelRoles:\n  c: z\n");
    expect(await edit("", "bash.environment.A.B=1")).toBe('bash:\n  environment:\n    A.B: "1"\n');
  });

  it("adds a dotted key instead of changing a YAML alias", async () => {
    expect(await edit("a: &r {maxRetries: 3}\nretry: *r\n", "retry.maxRetries=5")).toBe(
      "a: &r {maxRetries: 3}\nretry: *r\nretry.maxRetries: 5\n",
    );
  });

  it("puts the new name beside an old one, which then no longer counts", async () => {
    const after = await edit("queueMode: all\n", "steeringMode=one-at-a-time");
    expect(after).toBe("queueMode: all\nsteeringMode: one-at-a-time\n");
    expect(readLayer(parse(after), file).values.get("steeringMode")).toBe("one-at-a-time");
  });

  it("quotes a text that YAML would read as something else", async () => {
    await save("shellPath=true");
    expect(parse(text())).toEqual({ shellPath: "true" });
    await save("shellPath=# no: {comment}");
    expect(parse(text())).toEqual({ shellPath: "# no: {comment}" });
  });

  it("keeps the file's mode, and a link to it a link", async () => {
    const real = join(directory, "dotfiles.yaml");
    writeFileSync(real, "# mine\nsteeringMode: all\n");
    chmodSync(real, 0o640);
    symlinkSync(real, file);
    await save("followUpMode=all");
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toBe("# mine\nsteeringMode: all\nfollowUpMode: all\n");
    expect(statSync(real).mode & 0o777).toBe(0o640);
  });

  it("any sequence of changes leaves what a map would hold, and every comment", async () => {
    const names = ["todo.reminders", "todo.reminders.max", "todo.eager", "retry.maxRetries", "topK"];
    const word = fc.constantFrom(
      ...["todo.reminders=1", "todo.reminders=0", "todo.reminders.max=1", "todo.reminders.max=2", "todo.eager=1"],
      ...["retry.maxRetries=1", "retry.maxRetries=2", "topK=5", "topK=-1"],
    );
    const start = fc.constantFrom(
      "",
      "# c\ntodo: # c\n  reminders: true # c\n",
      "# c\ntodo:\n  reminders: # c\n    max: 9\n",
      "todo.reminders.max: 4 # c\nretry: {maxRetries: 3} # c\n",
      "todo.reminders: # c\n  max: 4\nretry: # c\n  maxRetries: 3\n",
    );
    const property = fc.asyncProperty(start, fc.array(word, { maxLength: 6 }), async (before, words) => {
      writeFileSync(file, before);
      const model = new Map(readLayer(parse(before) ?? {}, file).values);
      for (const item of words.map(parseAssignment)) {
        await saveSetting(file, item);
        model.set(item.key, item.value);
      }
      const { values, problems } = readLayer(parse(text()) ?? {}, file);
      expect(problems).toEqual([]);
      for (const name of names) expect([name, values.get(name as never)]).toEqual([name, model.get(name as never)]);
      expect(text().split("# c").length).toBe(before.split("# c").length);
    });
    await fc.assert(property, { numRuns: runs(40) });
  });
});

describe("saveSetting refuses", () => {
  const refusal = (code: string, message: string) => expect.objectContaining({ code, message });

  it.each([
    ["a: 1\nkey: sk-secret: x\n", "not valid YAML at line 2, column 6 (block as implicit key)"],
    ["- a\n", "not an object of settings"],
    ["a: 1\na: 2\n", "not valid YAML at line 2, column 1 (duplicate key)"],
    ["a: 1\n---\nb: 2\n", "not valid YAML at line 2, column 1 (multiple docs)"],
    ["a: &x {b: *x}\n", "not valid YAML (an alias without its anchor, or inside of it)"],
  ])("to write over %j, byte for byte", async (before, reason) => {
    writeFileSync(file, before);
    await expect(save("steeringMode=all")).rejects.toEqual(
      refusal("invalid_config", `Refusing to write ${file}: it cannot be parsed (${reason}). Fix it first.`),
    );
    expect(text()).toBe(before);
    expect(readdirSync(directory)).toEqual(["config.yml"]);
  });

  it.each([
    ["retry: {maxRetries: &n 3}\nttsr: {repeatGap: *n}\n", "retry.maxRetries"],
    ["retry: &r {maxRetries: 3}\nother: *r\n", "retry.baseDelayMs"],
    ["{topK: 1,\n  retry: }\n", "retry.maxRetries"],
  ])("a change that would reach further than its setting: %j", async (before, key) => {
    writeFileSync(file, before);
    await expect(save(`${key}=5`)).rejects.toEqual(
      refusal(
        "invalid_config",
        `Refusing to write ${file}: ${key} cannot be added without changing other settings. Add it by hand.`,
      ),
    );
    expect(text()).toBe(before);
  });

  it("what is no file", async () => {
    mkdirSync(file);
    await expect(save("steeringMode=all")).rejects.toEqual(
      refusal("invalid_config", `Refusing to write ${file}: it cannot be read (not a regular file). Fix it first.`),
    );
    rmSync(file, { recursive: true });
    symlinkSync(join(directory, "gone"), file);
    await expect(save("steeringMode=all")).rejects.toEqual(refusal("file_refused", `Cannot write ${file} (ENOENT).`));
    expect(existsSync(join(directory, "gone"))).toBe(false);
  });
});

describe("concurrent saves", () => {
  const words = Array.from({ length: 20 }, (_, index) => `modelRoles.r${index}=m${index}`);
  const roles = Object.fromEntries(words.map((_, index) => [`r${index}`, `m${index}`]));

  it("of one process lose nothing", async () => {
    await Promise.all(words.map((word) => save(word)));
    expect(parse(text())).toEqual({ modelRoles: roles });
  });

  it("of several processes lose nothing", async () => {
    const program = join(directory, "save.cjs");
    await build({
      stdin: {
        contents: `
          import { saveSetting, unsetSetting } from "./save-setting.js";
          import { parseAssignment } from "./assignment.js";
          for (const word of process.argv.slice(3)) void saveSetting(process.argv[2], parseAssignment(word));`,
        resolveDir: fileURLToPath(new URL(".", import.meta.url)),
      },
      bundle: true,
      platform: "node",
      format: "cjs",
      outfile: program,
    });
    const ends = [0, 1, 2, 3].map(async (part) => {
      const own = words.filter((_, index) => index % 4 === part);
      const child = spawn(process.execPath, [program, file, ...own], { stdio: "inherit" });
      return (await once(child, "close"))[0];
    });
    expect(await Promise.all(ends)).toEqual([0, 0, 0, 0]);
    expect(parse(text())).toEqual({ modelRoles: roles });
  });
});

it("readAssignment and saveSetting take a value of several words", async () => {
  await saveSetting(file, readAssignment("enabledModels", "a b, c"));
  expect(parse(text())).toEqual({ enabledModels: ["a b", "c"] });
});

describe("unsetSetting", () => {
  const unset = async (before: string, name: string) => {
    writeFileSync(file, before);
    await unsetSetting(file, [name]);
    return text();
  };

  it.each([
    ["# a\ntopK: 1 # one\n# b\ntopP: 1\n", "topK", "# a\n# b\ntopP: 1\n"],
    ["topK: 1\ntopP: 1", "topP", "topK: 1\n"],
    ["todo:\n  eager: true\n  enabled: false # e\n", "todo.eager", "todo:\n  enabled: false # e\n"],
    ["topK: 1\ntodo:\n  eager: true\n", "todo.eager", "topK: 1\n"],
    ["todo.eager: true\ntodo:\n  eager: false\n  enabled: true\n", "todo.eager", "todo:\n  enabled: true\n"],
    ["todo: {eager: true, enabled: false} # t\n", "todo.eager", "todo: {enabled: false} # t\n"],
    ["todo: {eager: true, enabled: false} # t\n", "todo.enabled", "todo: {eager: true} # t\n"],
    ["{topK: 1}\n", "topK", "{}\n"],
    ["todo: {reminders: {max: 3}}\n", "todo.reminders", "todo: {reminders: {max: 3}}\n"],
    ["todo.reminders: true\ntodo.reminders.max: 3\n", "todo.reminders", "todo.reminders.max: 3\n"],
    ["modelRoles:\n  smol: a/b\n  slow: c/d\n", "modelRoles.smol", "modelRoles:\n  slow: c/d\n"],
    ["modelRoles:\n  smol: a/b\n  slow: c/d\ntopK: 1\n", "modelRoles", "topK: 1\n"],
    ["extensions:\n  - a\n  - b\ntopK: 1\n", "extensions", "topK: 1\n"],
    ["topK: 1\r\ntopP: 1\r\n", "topK", "topP: 1\r\n"],
    ["topK:\ntopP: 1\n", "topK", "topP: 1\n"],
    ["shellPath: |-\n  /bin/sh\n# c\n", "shellPath", "# c\n"],
  ])("%j without %s is %j", async (before, name, after) => expect(await unset(before, name)).toBe(after));

  it("leaves a file that has no such setting untouched, and makes none", async () => {
    expect(await unsetSetting(file, ["topK"])).toBe(false);
    expect(existsSync(file)).toBe(false);
  });

  it("after any sequence of changes and removals the file says what a map would hold, with every comment line", async () => {
    const names = ["todo.reminders", "todo.reminders.max", "todo.eager", "retry.maxRetries", "topK"];
    const deed = fc.oneof(
      fc.constantFrom(...names).map((name) => ({ remove: name })),
      fc.constantFrom(...["todo.reminders=0", "todo.reminders.max=2", "todo.eager=1", "retry.maxRetries=1", "topK=5"]),
    );
    const start = fc.constantFrom(
      "",
      "# c\ntodo:\n  # c\n  reminders: true\n# c\n",
      "# c\ntodo:\n  reminders:\n    max: 9\n    # c\ntopK: 1\n",
      "todo.reminders.max: 4\n# c\nretry: {maxRetries: 3, enabled: true}\n",
      "todo: {reminders.max: 4, eager: false}\n# c\ntodo.reminders: true\n",
    );
    const property = fc.asyncProperty(start, fc.array(deed, { maxLength: 6 }), async (before, deeds) => {
      writeFileSync(file, before);
      const model = new Map<string, unknown>(readLayer(parse(before) ?? {}, file).values);
      for (const one of deeds)
        if (typeof one === "string") {
          const assignment = parseAssignment(one);
          await saveSetting(file, assignment);
          model.set(assignment.key, assignment.value);
        } else {
          expect(await unsetSetting(file, [one.remove])).toBe(model.delete(one.remove));
        }
      const { values, problems } = readLayer(parse(text()) ?? {}, file);
      expect(problems).toEqual([]);
      expect(new Map<string, unknown>(values)).toEqual(model);
      expect(text().split("# c").length).toBe(before.split("# c").length);
    });
    await fc.assert(property, { numRuns: runs(100) });
  });
});
