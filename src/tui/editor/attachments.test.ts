import { describe, expect, it } from "vitest";
import { Attachments, imagePath } from "./attachments.js";

describe("attachments", () => {
  it("go along as long as their mark is in the text, in its order", () => {
    const attachments = new Attachments();
    const image = (data: string) => ({ type: "image", data, mimeType: "image/png" }) as const;
    const [one, two] = [attachments.add("a.png", image("1")), attachments.add("b]\u001b[2J.png", image("2"))];
    expect([one, two]).toEqual(["[image #1: a.png]", "[image #2: b).png]"]);
    expect(attachments.in(`${two} and ${one}`)).toEqual([image("2"), image("1")]);
    expect(attachments.in(`see ${one}`)).toEqual([image("1")]);
    expect(attachments.in("none")).toEqual([]);
  });

  it("knows the paths of images as terminals paste them", () => {
    expect(imagePath("'/tmp/a b.png'")).toBe("/tmp/a b.png");
    expect(imagePath("/tmp/a\\ b.JPG ")).toBe("/tmp/a b.JPG");
    expect(imagePath("file:///tmp/a.webp")).toBe("/tmp/a.webp");
    expect(imagePath("see a.png\nand b")).toBeUndefined();
    expect(imagePath("notes.txt")).toBeUndefined();
  });
});
