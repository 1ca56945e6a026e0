import { describe, expect, it } from "vitest";
import type { SettingValues } from "../../config/settings/layers.js";
import { Settings } from "../../config/settings/settings.js";
import { type AccessMode, accessModes, accessRows, SessionAccess } from "./access-mode.js";

type Values = Record<string, unknown>;

function held(
  choice: ConstructorParameters<typeof SessionAccess>[1],
  { user = {}, project = {}, overrides = {} }: { user?: Values; project?: Values; overrides?: Values } = {},
) {
  const layer = (values: Values) => new Map(Object.entries(values)) as SettingValues;
  const settings = new Settings({ user: layer(user), project: layer(project), overrides: layer(overrides) });
  return new SessionAccess(settings, choice);
}

describe("the working mode", () => {
  it("is a name for a pair of settings, and custom where there is none", () => {
    for (const mode of accessModes) {
      const { sandbox, staging } = accessRows[mode];
      expect(held({}, { user: { sandbox, staging } }).mode).toBe(mode);
      expect(held({ access: mode }).mode).toBe(mode);
      expect(held({}, { user: { access: mode } })).toMatchObject(accessRows[mode]);
    }
    expect(held({}, { user: { staging: "all" } }).mode).toBe("custom");
    expect(held({}, { user: { staging: "off" } }).mode).toBe("custom");
  });

  it("is full, unless a front end, a file or the command line says otherwise", () => {
    expect(held({}).mode).toBe("full");
    expect(held({ defaultAccess: "stage" }).mode).toBe("stage");
    expect(held({ defaultAccess: "stage" }, { user: { access: "workspace" } }).mode).toBe("workspace");
    expect(held({ defaultAccess: "stage" }, { user: { staging: "auto" } }).mode).toBe("workspace");
    expect(held({ defaultAccess: "workspace" }, { user: { sandbox: "off" } }).mode).toBe("full");
    expect(held({ access: "stage" }, { user: { access: "full", staging: "auto", sandbox: "off" } }).mode).toBe("stage");
  });

  it("gives way to sandbox and staging of the same place", () => {
    expect(held({}, { user: { access: "workspace", staging: "all" } }).mode).toBe("stage");
    expect(held({ access: "workspace" }, { overrides: { staging: "all" } }).mode).toBe("stage");
    expect(held({ access: "stage" }, { overrides: { sandbox: "off", staging: "auto" } }).mode).toBe("full");
    expect(held({ access: "stage" }, { overrides: { access: "full" } }).mode).toBe("stage");
  });

  it("only becomes stricter by a project", () => {
    const by = (defaultAccess: AccessMode, project: Values, user: Values = {}) =>
      held({ defaultAccess }, { project, user }).mode;
    for (const looser of [{ access: "full" }, { access: "workspace" }, { staging: "auto" }, { sandbox: "off" }])
      expect(by("stage", looser)).toBe("stage");
    expect(by("workspace", { access: "stage" })).toBe("stage");
    expect(by("workspace", { staging: "all" })).toBe("stage");
    expect(by("full", { sandbox: "workspace" })).toBe("workspace");
    expect(by("stage", { access: "workspace", sandbox: "read-only" })).toBe("read-only");
    expect(by("stage", { access: "workspace" }, { access: "read-only" })).toBe("read-only");
    expect(held({ access: "workspace" }, { project: { access: "stage" } }).mode).toBe("workspace");
  });

  it("tells whether the sandbox was asked for", () => {
    expect(held({ defaultAccess: "workspace" }).isSandboxGiven).toBe(false);
    expect(held({ access: "workspace" }).isSandboxGiven).toBe(true);
    expect(held({ access: "stage" }).isSandboxGiven).toBe(false);
    expect(held({ defaultAccess: "workspace" }, { user: { staging: "all" } }).isSandboxGiven).toBe(false);
    for (const place of ["user", "project", "overrides"])
      expect(held({ defaultAccess: "stage" }, { [place]: { sandbox: "workspace" } }).isSandboxGiven).toBe(true);
  });

  it("is changed by the user or the host, from then on", () => {
    const access = held({ access: "full" }, { project: { staging: "all" } });
    for (const mode of accessModes) {
      access.choose(mode);
      expect(access.mode).toBe(mode);
    }
  });
});
