// Programs that people use: what they do in the view, applied to a copy, is what they do in another copy.

import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { createStageView } from "./create-stage-view.js";
import { applyTo, noViews, plant, runIn, snapshot, type Tree, viewOptions, viewTitle } from "./layer.test-kit.js";

const tree: Tree = {
  "src/a.c": "int one;\n",
  "src/b.c": "int two;\n",
  "src/deep/c.c": "int three;\n",
  "docs/read me.txt": "text\n",
  Makefile: "all: out/a out/b\nout/%: src/%.c\n\tmkdir -p out\n\tcp $< $@\n",
  link: "-> src/a.c",
};

const dates =
  "export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z GIT_CONFIG_GLOBAL=/dev/null";
const repository = `${dates}; git init -q -b main .; git config user.name t; git config user.email t@example.com; git config gc.auto 0; git add -A; git commit -qm start`;

const commands: Record<string, string> = {
  "sed -i": "sed -i s/int/long/ src/*.c",
  tar: "tar -cf src.tar src && rm -r src && mkdir new && tar -xf src.tar -C new --strip-components=1 && rm src.tar",
  make: "make -s",
  "a formatter": `for f in $(find src -name '*.c'); do sed 's/;/ ;/' "$f" > "$f.tmp" && chmod --reference="$f" "$f.tmp" && mv "$f.tmp" "$f"; done`,
  "a script":
    "for i in 1 2 3; do mkdir -p gen/$i; echo $i > gen/$i/x; done; chmod -R go-rwx gen; ln -s ../src gen/src; chmod +x src/a.c",
  "directory moves": "mv src lib; mv docs/* .; rmdir docs; mv lib/deep deep",
  "type changes": "rm link; mkdir link; mv src/a.c link/; rm -r docs; ln -s link docs; rm -r src; echo flat > src",
  "git branch and commit": `${dates}; git checkout -q -b work; echo more >> src/a.c; git add -A; git commit -qm two; git checkout -q main; git branch -q other`,
  "git merge": `${dates}; git checkout -q -b work; echo w > w; git add -A; git commit -qm w; git checkout -q main; echo m > m; git add -A; git commit -qm m; git merge -q --no-edit work`,
  "git stash": `${dates}; echo more >> src/a.c; git stash -q; echo other > o; git add o; git commit -qm o; git stash pop -q`,
  "git gc": `${dates}; git gc -q --prune=now`,
};

describe.skipIf(noViews !== undefined)(`programs in the view${viewTitle}`, () => {
  it.each(Object.keys(commands))("%s", async (name) => {
    const command = commands[name] ?? "";
    const place = temporaryDirectory();
    const [root, plain, applied] = ["project", "plain", "applied"].map((part) => join(place, part)) as [
      string,
      string,
      string,
    ];
    plant(root, tree);
    if (name.startsWith("git")) execFileSync("sh", ["-c", repository], { cwd: root, stdio: "pipe" });
    for (const copy of [plain, applied])
      cpSync(root, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    const untouched = snapshot(root);
    const view = await createStageView(viewOptions({ root, agentDir: join(place, "agent") }));
    const open = await view.open([]);
    try {
      runIn(open, root, command);
      execFileSync("sh", ["-c", command], { cwd: plain, stdio: "pipe" });
      const { effects, notStaged } = await open.collect();
      expect(notStaged).toEqual([]);
      expect(effects.length).toBeGreaterThan(0);
      applyTo(applied, effects, root);
    } finally {
      await open.release();
      await view.close();
    }
    // The index holds times and inodes of the tree that it was made in.
    const isOwnState = (path: string) => path === ".git/index";
    expect(snapshot(applied, isOwnState)).toEqual(snapshot(plain, isOwnState));
    if (name.startsWith("git")) {
      const state = (cwd: string) =>
        execFileSync("sh", ["-c", "git fsck --strict 2>&1; git status --short; git stash list"], {
          cwd,
          encoding: "utf8",
        });
      expect(state(applied)).toBe(state(plain));
    }
    expect(snapshot(root)).toEqual(untouched);
  });
});
