// Finds the paths in the arguments of a tool call while their JSON text streams in. Every character is looked at once,
// however the text is cut, and a path counts when its closing quote has come: half a path may fit a wrong glob.

const maxPaths = 64;
const maxStringLength = 8192;
const maxDepth = 128;

interface Container {
  readonly isObject: boolean;
  /** In an object: the next string is a key. */
  expectsKey: boolean;
  /** The strings in here are paths. */
  holdsPaths: boolean;
}

export class PathScanner {
  readonly #paths: string[] = [];
  readonly #containers: Container[] = [];
  /** The string that is open, raw; undefined between strings. */
  #string: string | undefined;
  #isEscaped = false;
  #isLost = false;

  /** In order of their appearance; the list grows. */
  get paths(): readonly string[] {
    return this.#paths;
  }

  push(text: string): void {
    let at = 0;
    while (at < text.length && !this.#isLost)
      at = this.#string === undefined ? this.#structure(text, at) : this.#inString(text, at);
  }

  #structure(text: string, at: number): number {
    const top = this.#containers.at(-1);
    switch (text[at]) {
      case '"':
        this.#string = "";
        break;
      case "{":
        this.#open({ isObject: true, expectsKey: true, holdsPaths: false });
        break;
      case "[":
        this.#open({ isObject: false, expectsKey: false, holdsPaths: top?.holdsPaths ?? false });
        break;
      case "}":
      case "]":
        this.#containers.pop();
        break;
      case ",":
        if (top) top.expectsKey = top.isObject;
        break;
      case ":":
        if (top) top.expectsKey = false;
        break;
    }
    return at + 1;
  }

  #open(container: Container): void {
    this.#containers.push(container);
    this.#isLost = this.#containers.length > maxDepth;
  }

  #inString(text: string, at: number): number {
    if (this.#isEscaped) {
      this.#isEscaped = false;
      this.#keep(text.charAt(at));
      return at + 1;
    }
    stop.lastIndex = at;
    const end = stop.exec(text)?.index ?? text.length;
    this.#keep(text.slice(at, end));
    if (text[end] === "\\") {
      this.#isEscaped = true;
      this.#keep("\\");
    } else if (text[end] === '"') this.#close();
    return end + 1;
  }

  /** Only keys and paths are of interest, and one character beyond the limit shows that it was passed. */
  #keep(raw: string): void {
    const top = this.#containers.at(-1);
    if (this.#string !== undefined && (top?.expectsKey || top?.holdsPaths))
      this.#string = (this.#string + raw).slice(0, maxStringLength + 1);
  }

  #close(): void {
    const text = decode(this.#string ?? "");
    this.#string = undefined;
    const top = this.#containers.at(-1);
    if (top?.expectsKey) top.holdsPaths = text !== undefined && /paths?$/i.test(text);
    else if (top?.holdsPaths && text !== undefined && this.#paths.length < maxPaths) this.#paths.push(text);
  }
}

const stop = /["\\]/g;

function decode(raw: string): string | undefined {
  if (raw.length > maxStringLength) return undefined;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined; // a bad escape or a raw control character: no path that a tool would get
  }
}
