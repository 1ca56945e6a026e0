// Hostile sessions as pages in a real browser, with every trap armed: a server that hears of each request to it, the
// browser's own word on requests to anybody, dialogs and policy violations, and a look at each element and attribute the
// browser made of the page. Each page is opened twice: with its content policy, and without, so that neither wall hides a hole
// in the other.

import { createServer } from "node:http";
import { Browser } from "./browser.mjs";
import { hostileSession } from "./hostile.mjs";

/** A browser with its traps. */
export class Rig {
  #browser;
  #trap;

  static async start(browserPath) {
    const rig = new Rig();
    rig.#trap = await TrapServer.start();
    rig.#browser = await Browser.start(browserPath);
    rig.#browser.onEvent(({ method, params }) => {
      if (method === "Network.requestWillBeSent") rig.#trap.hear(params.request.url);
    });
    return rig;
  }

  /** What a page does when it is opened. `bypass` switches its content policy off. */
  async open(page, { bypass }) {
    const browser = this.#browser;
    const dialogs = [];
    const stop = browser.onEvent(({ method, params }) => {
      if (method !== "Page.javascriptDialogOpening") return;
      dialogs.push(params.message);
      void browser.send("Page.handleJavaScriptDialog", { accept: false });
    });
    await browser.send("Page.setBypassCSP", { enabled: bypass });
    const { identifier } = await browser.send("Page.addScriptToEvaluateOnNewDocument", { source: listenForViolations });
    this.#trap.page = page;
    await browser.open(this.#trap.url);
    // Everything folds open, so that what shows only then is shown.
    await browser.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    const audit = await browser.evaluate(`(${auditPage})()`);
    await browser.send("Page.removeScriptToEvaluateOnNewDocument", { identifier });
    stop();
    return { ...audit, dialogs, requests: this.#trap.takeStrangers() };
  }

  async stop() {
    await this.#browser.stop();
    await this.#trap.stop();
  }
}

/** `exportPage` makes a page of the text of a session file. Answers counts; everything but `pages` has to be 0. */
export async function runAttacks({ rig, exportPage, count, seed }) {
  const figures = { pages: 0, scriptRuns: 0, requests: 0, dialogs: 0, violations: 0, strangeParts: 0 };
  const problems = [];
  for (let index = 0; index < count; index++) {
    const page = await exportPage(hostileSession(seed + index));
    for (const bypass of [false, true]) {
      const deeds = await rig.open(page, { bypass });
      figures.pages++;
      for (const [name, findings] of Object.entries(deeds)) {
        figures[name] += findings.length;
        for (const finding of findings) problems.push(`seed ${seed + index}: ${name}: ${finding}`);
      }
    }
  }
  return { ...figures, problems };
}

const listenForViolations = `window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.__violations.push(event.violatedDirective + " " + event.blockedURI));`;

/** Runs in the page. */
function auditPage() {
  const known = new Set(
    "html head meta link title style body div header h1 h2 h3 h4 h5 h6 dl dt dd code nav details summary ol ul li a p label input main article span time pre b em strong del br hr blockquote table thead tbody tr th td img footer".split(
      " ",
    ),
  );
  const attributes = new Set(
    "class id href rel src alt title datetime dir open checked type start decoding lang http-equiv content charset name".split(
      " ",
    ),
  );
  const strangeParts = [];
  for (const element of document.querySelectorAll("*")) {
    if (!known.has(element.localName) || element.namespaceURI !== "http://www.w3.org/1999/xhtml")
      strangeParts.push(element.outerHTML.slice(0, 200));
    for (const { name } of element.attributes)
      if (!attributes.has(name)) strangeParts.push(`${element.localName} ${name}`);
    if (element.localName === "a" && !/^(?:https?:|mailto:)/.test(element.protocol)) strangeParts.push(element.href);
    if (element.localName === "a" && !element.hash && element.rel !== "noopener noreferrer") strangeParts.push("a rel");
    if (element.localName === "img" && !/^data:image\/(?:png|jpeg|gif|webp);base64,/.test(element.src))
      strangeParts.push(element.src);
  }
  const scriptRuns = [window.__ran && "flag", document.title === "ran" && "title"].filter(Boolean);
  return { strangeParts, scriptRuns, violations: window.__violations ?? [] };
}

/** Serves one page, and keeps every other wish. */
class TrapServer {
  page = "";
  #server;
  #strangers = [];

  static async start() {
    const trap = new TrapServer();
    trap.#server = createServer((request, response) => trap.#answer(request, response));
    await new Promise((resolve) => trap.#server.listen(0, "127.0.0.1", resolve));
    return trap;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}/page`;
  }

  /** One that comes late is found with the next page: none is lost. */
  takeStrangers() {
    return this.#strangers.splice(0);
  }

  /** What the browser says that it asks for, wherever. */
  hear(url) {
    if (url !== this.url && !url.startsWith("data:")) this.#strangers.push(url);
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request, response) {
    if (request.url !== "/page") this.#strangers.push(request.url);
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(request.url === "/page" ? this.page : "");
  }
}
