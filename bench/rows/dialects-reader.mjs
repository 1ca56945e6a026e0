// Reads two answers, with galley's dialect or with the AI SDK. Run by rows/dialects.mjs; prints one line of JSON about the
// second.

const { module, sdk, url, model } = JSON.parse(process.argv[2]);
const loaded = await import(module);
const readAnswer = sdk ? await sdkReader() : galleyReader;

await readAnswer();
const before = process.cpuUsage();
const characters = await readAnswer();
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ characters, cpuMs: (user + system) / 1000 }));
process.exit(0); // kept connections would hold the process

async function galleyReader() {
  const context = { systemPrompt: "", messages: [{ role: "user", content: "Go on.", timestamp: 1 }], tools: [] };
  const options = { signal: new AbortController().signal, apiKey: "k" };
  let length = 0;
  for await (const event of loaded.streamByApi({ model, context, options }))
    if (event.type === "text_delta") length += event.delta.length;
  return length;
}

async function sdkReader() {
  const provider = loaded[sdk.create]({ apiKey: "k", baseURL: url + sdk.base });
  const theirs = sdk.kind ? provider[sdk.kind](model.id) : provider(model.id);
  const prompt = [{ role: "user", content: [{ type: "text", text: "Go on." }] }];
  return async () => {
    let length = 0;
    for await (const part of (await theirs.doStream({ prompt })).stream)
      if (part.type === "text-delta") length += part.delta.length;
    return length;
  };
}
