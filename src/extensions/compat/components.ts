// The components that tools build their output from: anything that renders to lines of a width. These are the plain
// ones; a terminal front end may bring its own in their place.

import { replaceTabs, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "./terminal-text.js";

export { replaceTabs, truncateToWidth, visibleWidth, wrapTextWithAnsi };

export interface Component {
  render(width: number): string[];
  invalidate?(): void;
  handleInput?(data: string): void;
  dispose?(): void;
  wantsKeyRelease?: boolean;
}

type Paint = ((text: string) => string) | undefined;

export class Text implements Component {
  #text: string;
  readonly #paddingX: number;
  readonly #paddingY: number;
  #paint: Paint;

  constructor(text = "", paddingX = 1, paddingY = 1, paint?: Paint) {
    this.#text = text;
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
    this.#paint = paint;
  }

  setText(text: string): void {
    this.#text = text;
  }

  setCustomBgFn(paint: Paint): void {
    this.#paint = paint;
  }

  invalidate(): void {}

  render(width: number): string[] {
    if (this.#text.trim() === "") return [];
    const inner = Math.max(width - 2 * this.#paddingX, 1);
    const lines = wrapTextWithAnsi(replaceTabs(this.#text), inner);
    return padded(lines, { width, paddingX: this.#paddingX, paddingY: this.#paddingY, paint: this.#paint });
  }
}

export class Container implements Component {
  readonly children: Component[] = [];

  addChild(child: Component): void {
    this.children.push(child);
  }

  removeChild(child: Component): void {
    const index = this.children.indexOf(child);
    if (index !== -1) this.children.splice(index, 1);
  }

  clear(): void {
    this.children.length = 0;
  }

  invalidate(): void {
    for (const child of this.children) child.invalidate?.();
  }

  render(width: number): string[] {
    return this.children.flatMap((child) => child.render(width));
  }
}

export class Box extends Container {
  #paddingX: number;
  readonly #paddingY: number;
  #paint: Paint;

  constructor(paddingX = 1, paddingY = 1, paint?: Paint) {
    super();
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
    this.#paint = paint;
  }

  setBgFn(paint: Paint): void {
    this.#paint = paint;
  }

  setPaddingX(paddingX: number): void {
    this.#paddingX = paddingX;
  }

  override render(width: number): string[] {
    const lines = super.render(Math.max(width - 2 * this.#paddingX, 1));
    if (lines.length === 0) return [];
    return padded(lines, { width, paddingX: this.#paddingX, paddingY: this.#paddingY, paint: this.#paint });
  }
}

export class Spacer implements Component {
  #lines: number;

  constructor(lines = 1) {
    this.#lines = lines;
  }

  setLines(lines: number): void {
    this.#lines = lines;
  }

  render(): string[] {
    return Array.from({ length: this.#lines }, () => "");
  }
}

interface Padding {
  readonly width: number;
  readonly paddingX: number;
  readonly paddingY: number;
  readonly paint: Paint;
}

/** Every line as wide as the component, so that a background is a rectangle. */
function padded(lines: readonly string[], { width, paddingX, paddingY, paint }: Padding): string[] {
  const edge = Array.from({ length: paddingY }, () => "");
  return [...edge, ...lines, ...edge].map((line) => {
    const left = `${" ".repeat(line === "" ? 0 : paddingX)}${line}`;
    const whole = `${left}${" ".repeat(Math.max(width - visibleWidth(left), 0))}`;
    return paint ? paint(whole) : whole;
  });
}
