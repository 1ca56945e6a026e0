import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../base/json.js";
import { admitProject } from "./admit-project.js";
import { readLayer } from "./layers.js";

const file = "/a/config.yml";

describe("admitProject (T-8)", () => {
  const admit = (
    project: JsonObject,
    { user = {}, isTrusted = false }: { user?: JsonObject; isTrusted?: boolean } = {},
  ) => {
    const admitted = admitProject(
      { values: readLayer(project, "/p/settings.json").values, file: "/p/settings.json" },
      readLayer(user, file).values,
      isTrusted,
    );
    return { values: Object.fromEntries(admitted.values), problems: admitted.problems.map(({ text }) => text) };
  };
  const untilTrusted = "is ignored until the project is trusted";

  it("lets any project set harmless settings", () => {
    expect(admit({ "ttsr.repeatGap": 5 })).toEqual({ values: { "ttsr.repeatGap": 5 }, problems: [] });
  });

  it.each([
    { shellPath: "/tmp/sh" },
    { bash: { environment: { A: "b" } } },
    { modelRoles: { default: "evil/model" } },
    { sessionDir: "." },
    { "undo.keep": 0 },
    { "tools.maxTimeout": 0 },
    { "ask.timeout": 0.01 },
    { "retry.baseDelayMs": 0 },
  ])("lets only a trusted one set %j", (project) => {
    const key = [...readLayer(project, file).values.keys()][0] as string;
    expect(admit(project)).toEqual({ values: {}, problems: [`/p/settings.json: ${key}: ${untilTrusted}`] });
    expect(admit(project, { isTrusted: true })).toEqual({
      values: expect.objectContaining({ [key]: expect.anything() }),
      problems: [],
    });
  });

  it.each([true, false])("never lets it decide about trust (trusted: %s)", (isTrusted) => {
    expect(admit({ "security.projectModules": "allow", "workspace.roots": ["/"] }, { isTrusted })).toEqual({
      values: {},
      problems: [
        "/p/settings.json: security.projectModules: is ignored, only the user's own settings may say this",
        "/p/settings.json: workspace.roots: is ignored, only the user's own settings may say this",
      ],
    });
  });

  const narrower = (key: string, value: string) =>
    `/p/settings.json: ${key}: ${value} is ignored, a project may only make this stricter`;

  it.each([true, false])(
    "lets it tighten staging, sandbox, redaction and who decides, never loosen (trusted: %s)",
    (isTrusted) => {
      const strict = { staging: "all", sandbox: "read-only", "resolve.decider": "user", "resolve.requireUser": true };
      expect(admit(strict, { isTrusted })).toEqual({ values: strict, problems: [] });
      const loose = { staging: "off", sandbox: "off", "resolve.decider": "model", "secrets.enabled": false };
      expect(admit(loose, { user: { "resolve.decider": "both" }, isTrusted })).toEqual({
        values: {},
        problems: [
          narrower("staging", '"off"'),
          narrower("sandbox", '"off"'),
          narrower("resolve.decider", '"model"'),
          narrower("secrets.enabled", "false"),
        ],
      });
    },
  );

  it("lets any project set a limit that the user has not, and lower one that the user has", () => {
    expect(admit({ "budget.maxCost": 1 }).values).toEqual({ "budget.maxCost": 1 });
    const user = { "budget.maxCost": 0.5 };
    expect(admit({ "budget.maxCost": 0.1 }, { user }).values).toEqual({ "budget.maxCost": 0.1 });
    const problem = "/p/settings.json: budget.maxCost: 1 is ignored, a project may only make this stricter";
    expect(admit({ "budget.maxCost": 1 }, { user, isTrusted: true })).toEqual({ values: {}, problems: [problem] });
  });

  it("measures by what the user says, not by the default", () => {
    expect(admit({ staging: "auto" }, { user: { staging: "off" } })).toEqual({
      values: { staging: "auto" },
      problems: [],
    });
    expect(admit({ staging: "auto" }, { user: { staging: "all" } }).values).toEqual({});
    expect(admit({ "secrets.enabled": true }, { user: { "secrets.enabled": false } }).values).toEqual({
      "secrets.enabled": true,
    });
    expect(admit({ staging: "all" }, { user: { staging: "all" } })).toEqual({
      values: { staging: "all" },
      problems: [],
    });
  });

  it.each(["extensions", "customTools", "skills.customDirectories"])(
    "leaves the user's %s alone: what a trusted project names is found as its own",
    (key) => {
      expect(admit({ [key]: ["./x"] }).problems).toEqual([`/p/settings.json: ${key}: ${untilTrusted}`]);
      expect(admit({ [key]: ["./x"] }, { isTrusted: true })).toEqual({ values: {}, problems: [] });
      const at = "/w/.galley/settings.json";
      const away = { values: readLayer({ [key]: ["../x", "/y", "in"] }, at).values, file: at };
      expect(admitProject(away, new Map(), true).problems.map(({ text }) => text)).toEqual(
        ["../x", "/y"].map((path) => `${at}: ${key}: "${path}" is ignored, it leads out of the project`),
      );
    },
  );

  it("adds to deny lists and takes nothing away", () => {
    const user = { disabledProviders: ["claude"], "secrets.paths": ["*.key"] };
    expect(admit({ disabledProviders: ["codex"], secrets: { paths: [] } }, { user })).toEqual({
      values: { disabledProviders: ["claude", "codex"], "secrets.paths": ["*.key"] },
      problems: [],
    });
    expect(admit({ disabledProviders: [] }, { user, isTrusted: true }).values).toEqual({
      disabledProviders: ["claude"],
    });
    const disabled = { user: { disabledExtensions: ["a"] }, isTrusted: true };
    expect(admit({ disabledExtensions: [] }, disabled).values).toEqual({ disabledExtensions: [] });
    expect(admit({ "secrets.paths": [] }, { user, isTrusted: true }).values).toEqual({ "secrets.paths": ["*.key"] });
  });

  it.each([true, false])("lets it remove hosts and add none (trusted: %s)", (isTrusted) => {
    const user = { "bash.hosts": ["*.example", "db.test:5432", "localhost:3000"] };
    const hosts = (list: string[]) => admit({ "bash.hosts": list }, { user, isTrusted });
    expect(hosts([])).toEqual({ values: { "bash.hosts": [] }, problems: [] });
    const fewer = ["registry.example", "*.cdn.example:443", "DB.test:5432"];
    expect(hosts(fewer)).toEqual({ values: { "bash.hosts": fewer }, problems: [] });
    const more = ["evil.test", "example", "registry.example:8443", "db.test", "localhost:3001", "127.0.0.1:3000"];
    expect(hosts(["registry.example", ...more])).toEqual({
      values: { "bash.hosts": ["registry.example"] },
      problems: more.map(
        (host) => `/p/settings.json: bash.hosts: "${host}" is ignored, a project may only remove hosts`,
      ),
    });
    expect(admit({ "bash.hosts": ["evil.test"] }, { isTrusted }).values).toEqual({ "bash.hosts": [] });
  });

  it.each([true, false])("lets it close and hide, never open and show (trusted: %s)", (isTrusted) => {
    const user = {
      "bash.network": "hosts",
      "bash.unixSockets": "none",
      "bash.hide": ["~/vault"],
      access: "stage",
      "stage.maxFiles": 100,
    };
    const strict = { "bash.network": "off", "bash.hide": ["/srv"], access: "read-only", "stage.maxFiles": 10 };
    expect(admit(strict, { user, isTrusted })).toEqual({
      values: { ...strict, "bash.hide": ["~/vault", "/srv"] },
      problems: [],
    });
    const loose = {
      "bash.network": "on",
      "bash.unixSockets": "own",
      "bash.show": ["~/.ssh"],
      access: "workspace",
      "stage.maxFiles": 1000,
    };
    expect(admit(loose, { user, isTrusted })).toEqual({
      values: {},
      problems: [
        narrower("bash.network", '"on"'),
        narrower("bash.unixSockets", '"own"'),
        "/p/settings.json: bash.show: is ignored, only the user's own settings may say this",
        narrower("access", '"workspace"'),
        narrower("stage.maxFiles", "1000"),
      ],
    });
    expect(admit({ "stage.ignored": "plan" }, { isTrusted }).values).toEqual(
      isTrusted ? { "stage.ignored": "plan" } : {},
    );
  });

  it("lets any project switch a tool off or read less, a trusted one the other way too", () => {
    expect(admit({ "bash.enabled": false, maxReadBytes: 10 }).values).toEqual({
      "bash.enabled": false,
      maxReadBytes: 10,
    });
    const user = { "bash.enabled": false, maxReadBytes: 10 };
    const wide = { "bash.enabled": true, maxReadBytes: 20 };
    expect(admit(wide, { user })).toEqual({
      values: {},
      problems: [
        `/p/settings.json: bash.enabled: true is ignored, until the project is trusted it may only make this stricter`,
        `/p/settings.json: maxReadBytes: 20 is ignored, until the project is trusted it may only make this stricter`,
      ],
    });
    expect(admit(wide, { user, isTrusted: true }).values).toEqual(wide);
  });
});
