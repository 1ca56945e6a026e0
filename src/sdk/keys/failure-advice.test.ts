import { describe, expect, it } from "vitest";
import type { ProviderFailure } from "../../protocol/messages.js";
import { openAi } from "../../testing/index.js";
import { adviceFor } from "./failure-advice.js";

const model = openAi.model("https://gateway.example", { api: "openai-responses" });
const sent = { hasKey: true, hasHeaders: false };
const advice = (words: string, failure: ProviderFailure, changes: Partial<typeof model> = {}) =>
  adviceFor(words, failure, { model: { ...model, ...changes }, keySource: "OPENAI_API_KEY", ...sent });

describe("a 404 of /responses", () => {
  const notFound: ProviderFailure = { kind: "invalid_request", status: 404 };
  const text = "This server has no /responses. Set  api: openai-completions  for openai in models.yml";

  it.each(["HTTP 404: 404 page not found", 'HTTP 404: {"detail":"Not Found"}', "HTTP 404: Cannot POST /v1/responses"])(
    "on another host: the setting that mends it (%s)",
    (words) => expect(advice(words, notFound)).toBe(text),
  );

  it("is something else on the vendor's host, with another api, or when the server speaks of the model", () => {
    expect(advice("HTTP 404: Not Found", notFound, { baseUrl: "https://api.openai.com/v1" })).toBeUndefined();
    expect(advice("HTTP 404: Not Found", notFound, { api: "openai-completions" })).toBeUndefined();
    expect(advice("HTTP 404 model_not_found: The model `m` does not exist", notFound)).toBeUndefined();
    expect(advice("HTTP 500: Oops", { kind: "server", status: 500 })).toBeUndefined();
  });
});

it("an auth failure without a status is one too; without a known key nothing is said of it", () => {
  const failure: ProviderFailure = { kind: "auth" };
  expect(advice("authentication_error", failure)).toBe(
    "The key from OPENAI_API_KEY was refused by https://gateway.example. Check it, or run: galley login openai",
  );
  expect(adviceFor("no", failure, { model, keySource: undefined, ...sent })).toBeUndefined();
});
