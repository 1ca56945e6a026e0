// A real browser, driven over a pipe: no library, no port of its own. Knows just enough of the protocol to open pages
// and to hear what they try to do.

import { spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/** The path of a browser that can be driven, or undefined. */
export function findBrowser() {
  const places = (process.env.PATH ?? "").split(delimiter).filter((place) => place !== "");
  return places.flatMap((place) => names.map((name) => join(place, name))).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export class Browser {
  #child;
  #profile;
  #nextId = 1;
  #rest = "";
  #waiting = new Map();
  #listeners = new Set();
  #sessionId;

  /** One browser with one page. */
  static async start(path) {
    const browser = new Browser(path);
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    browser.#sessionId = sessionId;
    for (const domain of ["Page", "Runtime", "Network"]) await browser.send(`${domain}.enable`);
    return browser;
  }

  constructor(path) {
    this.#profile = mkdtempSync(join(tmpdir(), "galley-browser-"));
    const flags = [
      "--headless",
      "--remote-debugging-pipe",
      `--user-data-dir=${this.#profile}`,
      "--no-first-run",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      // A renderer of its own for root needs this; the pages come from this very program.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ];
    // Its caches and settings go with its profile, wherever the user keeps his.
    const env = { ...process.env, HOME: this.#profile, XDG_CACHE_HOME: this.#profile, XDG_CONFIG_HOME: this.#profile };
    this.#child = spawn(path, flags, { env, stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.#child.on("error", (error) => this.#fail(error));
    this.#child.on("exit", () => this.#fail(new Error("The browser has ended")));
    this.#child.stdio[3].on("error", (error) => this.#fail(error));
    this.#child.stdio[4].setEncoding("utf8").on("data", (chunk) => this.#read(chunk));
  }

  /** `listener` hears of every event; answers how to stop that. */
  onEvent(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  send(method, params = {}) {
    const id = this.#nextId++;
    const command = { id, method, params, ...(this.#sessionId ? { sessionId: this.#sessionId } : {}) };
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdio[3].write(`${JSON.stringify(command)}\0`);
    });
  }

  /** Resolves when the page has loaded. */
  async open(url) {
    const loaded = new Promise((resolve) => {
      const stop = this.onEvent(({ method }) => {
        if (method !== "Page.loadEventFired") return;
        stop();
        resolve();
      });
    });
    const { errorText } = await this.send("Page.navigate", { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  /** The value of an expression in the page. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** In order where it can: helpers of a killed browser live on for a moment and write to its profile. */
  async stop() {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#sessionId = undefined; // the browser is asked, not the page
    this.send("Browser.close").catch(() => {}); // it ends instead of answering
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 5000);
    await ended;
    clearTimeout(timer);
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #read(chunk) {
    const frames = (this.#rest + chunk).split("\0");
    this.#rest = frames.pop() ?? "";
    for (const frame of frames) {
      const message = JSON.parse(frame);
      if (message.id === undefined) {
        for (const listener of [...this.#listeners]) listener(message);
        continue;
      }
      const { resolve, reject } = this.#waiting.get(message.id) ?? {};
      this.#waiting.delete(message.id);
      if (message.error) reject?.(new Error(message.error.message));
      else resolve?.(message.result);
    }
  }

  #fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
