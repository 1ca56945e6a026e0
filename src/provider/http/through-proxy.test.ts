import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer as createHttp, type Server } from "node:http";
import { createServer as createHttps, request as httpsRequest } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { systemClock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { manualClock } from "../../testing/manual-clock.js";
import { postJson } from "./http.js";
import { openTunnel, proxyFor } from "./through-proxy.js";

describe("proxyFor", () => {
  const target = new URL("https://api.example.com/v1");
  const found = (environment: Record<string, string>, url = target) => proxyFor(url, environment)?.href;

  it("reads the usual variables", () => {
    expect(found({})).toBeUndefined();
    expect(found({ HTTPS_PROXY: "http://p:3128" })).toBe("http://p:3128/");
    expect(found({ HTTPS_PROXY: "p:3128" })).toBe("http://p:3128/");
    expect(found({ https_proxy: "https://q", HTTPS_PROXY: "http://p" })).toBe("https://q/");
  });

  it.each([
    ["*", true],
    ["example.com", true],
    [".example.com", true],
    ["*.example.com", true],
    ["other.org, API.example.com:443", true],
    ["api.example.com:8443", false],
    ["ample.com", false],
    ["", false],
  ])("NO_PROXY %j exempts: %s", (list, isExempt) => {
    expect(found({ HTTPS_PROXY: "http://p", NO_PROXY: list }) === undefined).toBe(isExempt);
  });

  it("knows addresses of version 6", () => {
    const v6 = new URL("https://[::1]:8443/");
    for (const list of ["::1", "[::1]", "[::1]:8443"])
      expect(found({ HTTPS_PROXY: "http://p", NO_PROXY: list }, v6)).toBeUndefined();
    expect(found({ HTTPS_PROXY: "http://p", NO_PROXY: "[::1]:1" }, v6)).toBe("http://p/");
  });

  it("does not repeat an address that may hold a password", () => {
    expect(() => found({ HTTPS_PROXY: "socks5://me:hush@p" })).toThrow("HTTPS_PROXY is not an http or https address.");
    expect(() => found({ HTTPS_PROXY: "http://me:hush@p:x" })).toThrow("HTTPS_PROXY is not an http or https address.");
  });
});

describe("openTunnel", () => {
  let certificate = "";
  let secure: Server;
  let proxy: Server;
  const asked: { path: string | undefined; authorization: string | undefined }[] = [];

  beforeAll(async () => {
    const folder = temporaryDirectory();
    const [keyFile, certificateFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const name = ["-subj", "/CN=api.example.test", "-addext", "subjectAltName=DNS:api.example.test"];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const args = ["req", "-x509", ...curve, ...name, "-keyout", keyFile, "-out", certificateFile];
    execFileSync("openssl", args, { stdio: "ignore" });
    certificate = readFileSync(certificateFile, "utf8");
    const key = readFileSync(keyFile, "utf8");

    secure = createHttps({ key, cert: certificate }, (_request, response) => response.end("through"));
    proxy = createHttp();
    proxy.on("connect", (request, socket) => {
      asked.push({ path: request.url, authorization: request.headers["proxy-authorization"] });
      if (request.url?.startsWith("denied")) return socket.end("HTTP/1.1 407 No\r\n\r\n");
      if (request.url?.startsWith("silent")) return;
      const onward = connect((secure.address() as AddressInfo).port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        onward.pipe(socket);
        socket.pipe(onward);
      });
      onward.on("error", () => socket.destroy());
      socket.on("error", () => onward.destroy());
    });
    for (const server of [secure, proxy]) await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });

  afterAll(() => {
    for (const server of [secure, proxy]) {
      server.close();
      server.closeAllConnections();
    }
  });

  function tunnel(host: string, changes: { ca?: string; signal?: AbortSignal; clock?: typeof systemClock } = {}) {
    return openTunnel({
      proxy: new URL(`http://me:h%40sh@127.0.0.1:${(proxy.address() as AddressInfo).port}`),
      target: new URL(`https://${host}/v1`),
      timeoutMs: 10_000,
      signal: new AbortController().signal,
      clock: systemClock,
      ...changes,
    });
  }

  it("carries a request to the target, known by its own certificate", async () => {
    const socket = await tunnel("api.example.test", { ca: certificate });
    const text = await new Promise((resolve, reject) => {
      const call = httpsRequest("https://api.example.test/v1", { createConnection: () => socket }, async (answer) => {
        let body = "";
        for await (const part of answer) body += part;
        resolve(body);
      });
      call.on("error", reject).end();
    });
    expect(text).toBe("through");
    expect(asked.at(-1)).toEqual({
      path: "api.example.test:443",
      authorization: `Basic ${Buffer.from("me:h@sh").toString("base64")}`,
    });
  });

  it("trusts neither an unknown certificate nor one of another name", async () => {
    await expect(tunnel("api.example.test")).rejects.toThrow("self-signed certificate");
    await expect(tunnel("other.example.test", { ca: certificate })).rejects.toThrow("does not match certificate");
  });

  it("is the way of every https request when the environment names a proxy", async () => {
    vi.stubEnv("https_proxy", `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    vi.stubEnv("no_proxy", "");
    const call = postJson({
      url: "https://api.example.test:8443/",
      headers: {},
      payload: {},
      signal: new AbortController().signal,
      clock: systemClock,
    });
    await expect(call).rejects.toThrow("self-signed certificate");
    expect(asked.at(-1)).toEqual({ path: "api.example.test:8443", authorization: undefined });
    vi.unstubAllEnvs();
  });

  it("is the way that the request's own variables say, whatever the process's", async () => {
    vi.stubEnv("https_proxy", "http://127.0.0.1:1");
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const ask = (proxyVariables: Record<string, string>) =>
      postJson({
        url: "https://api.example.test:8444/",
        headers: {},
        payload: {},
        proxyVariables,
        signal: new AbortController().signal,
        clock: systemClock,
      });
    await expect(ask({ HTTPS_PROXY: address })).rejects.toThrow("self-signed certificate");
    expect(asked.at(-1)?.path).toBe("api.example.test:8444");
    const ways: Record<string, string>[] = [{}, { HTTPS_PROXY: address, NO_PROXY: "example.test" }];
    for (const direct of ways) await expect(ask(direct)).rejects.toMatchObject({ syscall: "getaddrinfo" });
    vi.unstubAllEnvs();
  });

  it("tells a refusal", async () => {
    await expect(tunnel("denied.test")).rejects.toThrow(
      /^The proxy 127\.0\.0\.1:\d+ refused the connection: HTTP 407\.$/,
    );
  });

  it("stops on time and when asked", async () => {
    const clock = manualClock();
    const late = tunnel("silent.test", { clock });
    clock.advance(10_000);
    await expect(late).rejects.toThrow("No connection through the proxy within 10 s.");
    const stop = new AbortController();
    const asked = tunnel("silent.test", { signal: stop.signal });
    stop.abort(new GalleyError("aborted", "Request was aborted"));
    await expect(asked).rejects.toThrow("Request was aborted");
  });
});
