// A stand-in for galley that has run out of descriptors: what starts runs, what does not says why, and nothing hangs.

const [module] = process.argv.slice(2);
const { createNodeProcesses, silentLog } = await import(module);
const processes = createNodeProcesses({ env: process.env, log: silentLog });
const run = () => processes.run({ command: { shell: "sleep 0.2; exit 7" }, cwd: "/" });

await run(); // the watcher is there from here on
const results = await Promise.allSettled(Array.from({ length: 60 }, run));
const fine = results.filter(({ value }) => value?.exitCode === 7).length;
const refused = results.filter(({ reason }) => reason?.code === "start_failed").length;
const fineAfterwards = (await run()).exitCode === 7;
console.log(JSON.stringify({ fine, refused, otherwise: results.length - fine - refused, fineAfterwards }));
await processes.shutdown();
