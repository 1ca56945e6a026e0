// A box on macOS: a profile for sandbox-exec. Everything is allowed but what the rules deny; a later line wins. Paths are
// parameters and never pasted into the text. Not tried on a Mac yet.

import type { Box, BoxRules, NetworkGate } from "./box.js";
import { boxEnvironment } from "./box-environment.js";
import { boxedCommand, Descriptors } from "./boxed-command.js";
import { findHidden, type MachinePlaces } from "./hidden-paths.js";
import { innerCommand } from "./inner-script.js";
import { findProtected } from "./protected-places.js";
import { noProtection } from "./protection.js";

export interface SandboxExec {
  readonly program: string;
  readonly bash: string | undefined;
  readonly machine: MachinePlaces;
}

export function sandboxExecBox(rules: BoxRules, { program, bash, machine }: SandboxExec): Box {
  return {
    async wrap(command, { cwd, env }) {
      const gate = typeof rules.network === "object" ? rules.network : undefined;
      const descriptors = new Descriptors({ hasError: !command.mergesOutput, hasChannel: gate !== undefined });
      descriptors.giveInput("");
      const { start, error, channel } = descriptors;
      const node = process.execPath;
      const inner = innerCommand(command, { start, error, channel, bash, node, listenScript: gate?.listenScript });
      const places =
        rules.mode === "workspace"
          ? findProtected({ ...rules, gitDirectories: [], cwd, stubsInUse: new Set() })
          : noProtection.places;
      const { profile, parameters } = sandboxProfile(rules, {
        hidden: findHidden(rules, machine).map(({ path }) => path),
        // A rule holds for a path that does not exist as well, so nothing is covered and nothing has to be taken away.
        frozen: [...places.readOnly, ...places.stubs, ...places.watched.map(({ path }) => path)],
      });
      const words = Object.entries(parameters).flatMap(([name, path]) => ["-D", `${name}=${path}`]);
      return boxedCommand({
        command: { file: program, args: ["-p", profile, ...words, ...inner], mergesOutput: command.mergesOutput },
        cwd,
        env: boxEnvironment(env, { tempDir: rules.tempDir, gate: gate?.env }),
        descriptors,
        gate,
        cleanUp: () => [],
      });
    },
  };
}

export interface ProfilePlaces {
  readonly hidden: readonly string[];
  /** Protected, in the writable roots. */
  readonly frozen: readonly string[];
}

/** The services behind the pasteboard, the key chain and launch services. */
const deniedServices = [
  ...["com.apple.pasteboard.1", "com.apple.pboard", "com.apple.SecurityServer", "com.apple.securityd.xpc"],
  ...["com.apple.securityd.system", "com.apple.coreservices.launchservicesd", "com.apple.lsd.mapdb"],
  ...["com.apple.lsd.modifydb", "com.apple.lsd.open", "com.apple.lsd.xpc"],
];

export function sandboxProfile(
  rules: BoxRules,
  { hidden, frozen }: ProfilePlaces,
): { readonly profile: string; readonly parameters: Readonly<Record<string, string>> } {
  const parameters: Record<string, string> = {};
  const paths = (name: string, list: readonly string[]) =>
    list.map((path, index) => {
      parameters[`${name}_${index}`] = path;
      return `(subpath (param "${name}_${index}"))`;
    });
  const writable = paths("WRITABLE", [...(rules.mode === "workspace" ? rules.roots : []), rules.tempDir]);
  const visible = paths("VISIBLE", [...rules.roots, rules.tempDir, ...rules.show]);
  const profile = [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    rule("allow file-write*", [...writable, ...devices]),
    rule("deny file-write*", paths("FROZEN", frozen)),
    rule("deny file-read*", paths("HIDDEN", hidden)),
    rule("allow file-read*", visible),
    ...networkRules(rules, writable),
    "(deny process-info* (target others))",
    rule(
      "deny mach-lookup",
      deniedServices.map((name) => `(global-name "${name}")`),
    ),
  ];
  return { profile: `${profile.filter((line) => line !== "").join("\n")}\n`, parameters };
}

const devices = ["null", "zero", "stdout", "stderr", "tty", "dtracehelper"].map((name) => `(literal "/dev/${name}")`);

function networkRules({ network, unixSockets }: BoxRules, writable: readonly string[]): string[] {
  if (network === "on") return [];
  const port = network === "off" ? undefined : proxyPort(network);
  return [
    "(deny network*)",
    ...(unixSockets === "own"
      ? writable.flatMap((path) => [
          `(allow network* (local unix-socket ${path}))`,
          `(allow network-outbound (remote unix-socket ${path}))`,
        ])
      : []),
    ...(port === undefined
      ? []
      : [
          `(allow network* (local ip "localhost:${port}"))`,
          `(allow network-outbound (remote ip "localhost:${port}"))`,
        ]),
  ];
}

/** The one address that a command may reach: the gate's own. */
function proxyPort({ env }: NetworkGate): number | undefined {
  const url = env.http_proxy ?? env.HTTP_PROXY;
  const port = url === undefined || !URL.canParse(url) ? undefined : Number(new URL(url).port);
  return port === undefined || port === 0 ? undefined : port;
}

function rule(head: string, items: readonly string[]): string {
  return items.length === 0 ? "" : `(${head}\n  ${items.join("\n  ")})`;
}
