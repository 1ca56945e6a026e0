import { shout } from "./shout.ts";

export function greet(name: string, isLoud = false): string {
  console.log("greeting", name);
  const text = `Hello, ${name}!`;
  if (isLoud) {
    console.log(
      "loudly",
      { name, text },
    );
    return shout(text);
  }
  return text;
}
