import { request } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { manualClock } from "../../testing/manual-clock.js";
import { type BrowserLogin, loginInBrowser } from "./browser-login.js";

async function open(clock = manualClock()): Promise<BrowserLogin & { callback: URL }> {
  const login = await loginInBrowser({ baseUrl: "https://openrouter.ai/api/v1", env: {}, clock });
  onTestFinished(login.close);
  return { ...login, callback: new URL(new URL(login.address).searchParams.get("callback_url") ?? "") };
}

/** The status of a request to the listener, or the system's error. */
function visit(url: URL, options: { method?: string; host?: string } = {}): Promise<number | string> {
  return new Promise((resolve) => {
    const { method = "GET", host = url.host } = options;
    const path = `${url.pathname}${url.search}`;
    request({ host: "127.0.0.1", port: url.port, path, method, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""))
      .end();
  });
}

describe("the listener", () => {
  it("takes one answer with its state, and is gone afterwards", async () => {
    const { callback, answered } = await open();
    const right = new URL(`${callback.href}&code=c-1`);
    const wrong = new URL(`${callback.origin}/callback?state=${"x".repeat(43)}&code=c-2`);
    expect(await visit(wrong)).toBe(400);
    expect(await visit(right, { method: "POST" })).toBe(400);
    expect(await visit(right, { host: "evil.example" })).toBe(400);
    expect(await visit(new URL(right.href.replace("/callback", "/other")))).toBe(400);
    expect(await visit(right)).toBe(200);
    expect(await answered).toBe("c-1");
    expect(await visit(right)).toBe("ECONNREFUSED");
  });

  it("waits five minutes", async () => {
    const clock = manualClock();
    const { callback, answered } = await open(clock);
    clock.advance(299_999);
    expect(await visit(callback)).toBe(400);
    clock.advance(1);
    await expect(answered).rejects.toMatchObject({ code: "timeout" });
    expect(await visit(callback)).toBe("ECONNREFUSED");
  });
});

it("a pasted address of another login, or no code at all, is refused before anything is sent", async () => {
  const { callback, exchange } = await open();
  for (const pasted of ["", "two words", `${callback.origin}/callback?state=x&code=c`, callback.href])
    await expect(exchange(pasted)).rejects.toThrow("This is not the code of this login. Nothing was stored.");
});
