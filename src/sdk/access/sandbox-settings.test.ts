import { expect, it } from "vitest";
import { layerOf, parseAssignment } from "../../config/settings/assignment.js";
import { Settings } from "../../config/settings/settings.js";
import { sandboxSettings } from "./sandbox-settings.js";

it("has the defaults of every command", () => {
  expect(sandboxSettings(new Settings(), "/home/me")).toEqual({
    network: "off",
    hosts: [],
    unixSockets: "own",
    hide: [],
    show: [],
    stage: {
      ignored: "keep",
      maxFiles: 10_000,
      maxBytes: 64 * 2 ** 20,
      maxFileBytes: 16 * 2 ** 20,
      maxLayerBytes: 4 * 2 ** 30,
      copyMaxFiles: 20_000,
      copyMaxBytes: 512 * 2 ** 20,
    },
  });
});

it("knows the home, and follows what changes in the session", () => {
  const words = ["bash.hide=~/vault, /srv/../keys/, ~", "bash.show=~/.npmrc", "bash.network=hosts", "stage.maxFiles=3"];
  const settings = new Settings({ overrides: layerOf(words.map(parseAssignment)) });
  expect(sandboxSettings(settings, "/home/me")).toMatchObject({
    network: "hosts",
    hide: ["/home/me/vault", "/keys", "/home/me"],
    show: ["/home/me/.npmrc"],
    stage: { maxFiles: 3 },
  });
  settings.override("bash.hosts", ["registry.example:443"]);
  expect(sandboxSettings(settings, "/home/me").hosts).toEqual(["registry.example:443"]);
  expect(() => settings.override("bash.hosts", ["https://x"])).toThrow("bash.hosts: expected a host");
});
