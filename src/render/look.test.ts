import { expect, test } from "vitest";
import { type ColourName, dark, light, type Palette } from "./look.js";

const pairs: [ink: ColourName, on: ColourName][] = [
  ["ink", "bg"],
  ["ink", "surface"],
  ["muted", "bg"],
  ["muted", "surface"],
  ["accent", "bg"],
  ["accent", "surface"],
  ["addedInk", "addedBg"],
  ["addedInk", "addedWord"],
  ["removedInk", "removedBg"],
  ["removedInk", "removedWord"],
  ["warnInk", "warnBg"],
  ["danger", "bg"],
];

test.each(Object.entries({ light, dark }))("text in the %s palette is legible (WCAG 2.2 AA)", (_name, palette) => {
  const poor = pairs.filter(([ink, on]) => contrast(palette, ink, on) < 4.5);
  expect(poor).toEqual([]);
});

function contrast(palette: Palette, ink: ColourName, on: ColourName): number {
  const [darker, lighter] = [luminance(palette[ink]), luminance(palette[on])].sort((a, b) => a - b) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
