// A screen that gives the terminal away or ends, also while a view on the alternate screen is open.

import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { FullScreen } from "./full-screen.js";
import { Screen } from "./screen.js";
import { Tty } from "./terminal.js";

function start(hasMouse = false) {
  const modes: string[] = [];
  const setRawMode = (isRaw: boolean) => void modes.push(isRaw ? "raw" : "cooked");
  const input = Object.assign(new EventEmitter(), { setRawMode, resume() {}, pause() {} });
  let written = "";
  const output = Object.assign(new EventEmitter(), {
    columns: 80,
    rows: 24,
    writableNeedDrain: false,
    write(text: string) {
      written += text;
      return true;
    },
  });
  const tty = new Tty({ input, output, hasMouse });
  const failures: unknown[] = [];
  const screen = new Screen(tty, (error) => failures.push(error));
  screen.start();
  const isOn = (mode: string) => written.lastIndexOf(`\u001b[?${mode}h`) > written.lastIndexOf(`\u001b[?${mode}l`);
  const keys: string[] = [];
  const view = {
    render: () => ["the view"],
    handleInput(key: string) {
      if (key === "!") throw new Error("broken");
      keys.push(key);
    },
  };
  return { screen, tty, input, modes, failures, isOn, keys, view, written: () => written };
}

it("puts everything back when it ends while a view is open", () => {
  const { screen, tty, view, isOn, modes } = start(true);
  screen.openFull(new FullScreen(tty, view));
  expect(["1049", "1000", "1004"].map(isOn)).toEqual([true, true, true]);
  screen.stop();
  screen.stop();
  expect(["1049", "1000", "1004", "2004"].map(isOn)).toEqual([false, false, false, false]);
  expect([isOn("25"), modes.at(-1)]).toEqual([true, "cooked"]);
});

it("gives the terminal away and takes it back, with the view that was open", () => {
  const { screen, tty, view, isOn, modes, written } = start();
  screen.openFull(new FullScreen(tty, view));
  screen.release();
  expect([isOn("1049"), isOn("25"), modes.at(-1)]).toEqual([false, true, "cooked"]);
  const before = written().length;
  screen.take();
  expect([isOn("1049"), isOn("25"), modes.at(-1)]).toEqual([true, false, "raw"]);
  expect(written().slice(before)).toContain("the view");
  screen.stop();
});

it("reports a key that makes a part fail, and goes on", () => {
  const { screen, tty, input, view, keys, failures } = start(true);
  screen.openFull(new FullScreen(tty, view));
  input.emit("data", Buffer.from("!a"));
  input.emit("data", Buffer.from("\u001b[<65;3;4M"));
  expect([failures.length, keys]).toEqual([1, ["a", "\u001b[B", "\u001b[B", "\u001b[B"]]);
  screen.stop();
});
