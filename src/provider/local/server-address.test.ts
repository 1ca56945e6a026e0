import { describe, expect, it } from "vitest";
import { localServers } from "../provider-list.js";
import { readAddress, serverAddress } from "./server-address.js";

const [ollama, lmStudio] = localServers as [(typeof localServers)[0], (typeof localServers)[0]];

describe("readAddress", () => {
  it.each([
    ["localhost", "http://localhost:11434"],
    ["127.0.0.1", "http://127.0.0.1:11434"],
    ["gpu.example", "http://gpu.example:11434"],
    ["gpu.example:80", "http://gpu.example"],
    ["127.0.0.1:5000", "http://127.0.0.1:5000"],
    [":5000", "http://127.0.0.1:5000"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:5000", "http://127.0.0.1:5000"],
    ["http://0.0.0.0:5000", "http://127.0.0.1:5000"],
    ["[::]", "http://[::1]:11434"],
    ["[::1]:5000", "http://[::1]:5000"],
    ["::1", "http://[::1]:11434"],
    ["::", "http://[::1]:11434"],
    ["http://localhost", "http://localhost"],
    ["https://gpu.example/", "https://gpu.example"],
    ["https://gpu.example/ollama/v1/", "https://gpu.example/ollama"],
    ["http://127.0.0.1:5000/v1", "http://127.0.0.1:5000"],
    ["127.0.0.1:5000/v1", "http://127.0.0.1:5000"],
    [' "localhost:5000" ', "http://localhost:5000"],
  ])("%s is %s", (text, root) => {
    expect(readAddress(text, 11434)).toBe(root);
  });

  it.each(["http://", "localhost:port", "a b", "http://me:hush@localhost", "ftp://localhost", "::::"])(
    "%s is no address",
    (text) => {
      expect(readAddress(text, 11434)).toBeUndefined();
    },
  );
});

describe("serverAddress", () => {
  it("is the usual one, or that of the first variable that is set", () => {
    expect(serverAddress(lmStudio, {})).toEqual({ root: "http://127.0.0.1:1234" });
    expect(serverAddress(ollama, { OLLAMA_HOST: ":5000", OLLAMA_BASE_URL: " " })).toEqual({
      root: "http://127.0.0.1:5000",
      from: "OLLAMA_HOST",
    });
    const both = { OLLAMA_HOST: ":5000", OLLAMA_BASE_URL: "http://localhost:6000/v1" };
    expect(serverAddress(ollama, both)).toEqual({ root: "http://localhost:6000", from: "OLLAMA_BASE_URL" });
    expect(serverAddress(ollama, { OLLAMA_HOST: "http://" })).toBeUndefined();
  });
});
