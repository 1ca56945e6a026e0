import { describe, expect, it } from "vitest";
import { readKeyFile } from "./key-file.js";
import { defaultKeys } from "./terminal-keys.js";

describe("the file of keys", () => {
  it("changes nothing where there is none", () => {
    const { keys, notices, library } = readKeyFile(undefined);
    expect(keys).toEqual(defaultKeys());
    expect(notices).toEqual([]);
    expect(library["tui.input.newLine"]).toEqual(["shift+enter", "ctrl+j"]);
  });

  it("takes one key, several, and none", () => {
    const text = '{"app.tools.expand": "ctrl+x", "app.review": ["f2", "Ctrl+Alt+R"], "app.suspend": null}';
    const { keys, notices } = readKeyFile(text);
    expect(notices).toEqual([]);
    expect(keys["app.tools.expand"]).toEqual(["ctrl+x"]);
    expect(keys["app.review"]).toEqual(["f2", "ctrl+alt+r"]);
    expect(keys["app.suspend"]).toEqual([]);
    expect(keys["app.clear"]).toEqual(["ctrl+c"]);
  });

  it("names a conflict, and the rest counts", () => {
    const { keys, notices } = readKeyFile('{"app.model.select": "ctrl+o", "app.editor.external": "ctrl+x"}');
    expect(notices).toEqual(["keybindings.json: ctrl+o is already app.tools.expand, so it is not app.model.select."]);
    expect(keys["app.model.select"]).toEqual([]);
    expect(keys["app.tools.expand"]).toEqual(["ctrl+o"]);
    expect(keys["app.editor.external"]).toEqual(["ctrl+x"]);
  });

  it("lets two actions change keys, in any order", () => {
    const { keys, notices } = readKeyFile('{"app.model.select": "ctrl+o", "app.tools.expand": "ctrl+l"}');
    expect(notices).toEqual([]);
    expect([keys["app.model.select"], keys["app.tools.expand"]]).toEqual([["ctrl+o"], ["ctrl+l"]]);
  });

  it("names a conflict with the editor, but not with lists", () => {
    const { notices, library } = readKeyFile(
      '{"app.review": "ctrl+k", "tui.select.down": ["down", "ctrl+n", "ctrl+o"]}',
    );
    expect(notices).toEqual([
      "keybindings.json: ctrl+k is already tui.editor.deleteToLineEnd, so it is not app.review.",
    ]);
    expect(library["tui.select.down"]).toEqual(["down", "ctrl+n", "ctrl+o"]);
  });

  it("changes the keys of the review view, where a capital is a key of its own", () => {
    const { review, notices } = readKeyFile(
      '{"review.applyAll": "P", "review.undo": ["z", "ctrl+z"], "review.copy": null, "review.mark": "shift+m", "review.wrap": "j", "review.find": "ctrl+c"}',
    );
    expect(notices).toEqual([
      "keybindings.json: ctrl+c closes the review view, so it is not review.find.",
      "keybindings.json: j is already review.nextHunk, so it is not review.wrap.",
    ]);
    expect([review["review.applyAll"], review["review.undo"], review["review.copy"], review["review.mark"]]).toEqual([
      ["P"],
      ["z", "ctrl+z"],
      [],
      ["M"],
    ]);
    expect(review["review.discardAll"]).toEqual(["D"]);
  });

  it("names unknown actions and keys", () => {
    const { notices } = readKeyFile('{"app.reviw": "f2", "app.suspend": "hyper+z", "app.exit": 3, "review.next": "n"}');
    expect(notices).toEqual([
      "keybindings.json: unknown key hyper+z for app.suspend.",
      "keybindings.json: app.exit must be a key, a list of keys or null.",
      "keybindings.json: unknown actions app.reviw, review.next.",
    ]);
    expect(readKeyFile('{"app.reviw": "f2"}').notices).toEqual([
      "keybindings.json: unknown action app.reviw. Did you mean app.review?",
    ]);
    expect(readKeyFile('{"app.a": "f2", "app.b": "f3"}').notices).toEqual([
      "keybindings.json: unknown actions app.a, app.b.",
    ]);
  });

  it("says what is wrong with a file that is no object", () => {
    expect(readKeyFile("[1]").notices).toEqual(["keybindings.json: it must be one object of actions and keys."]);
    expect(readKeyFile("{").notices[0]).toContain("it is not JSON");
  });
});
