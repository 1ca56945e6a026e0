import { greet } from "./greet.ts";

const names = process.argv.slice(2);
if (names.length === 0) console.log("usage: main.ts NAME...");

for (const name of names) {
  console.log(greet(name, name === name.toUpperCase()));
}
