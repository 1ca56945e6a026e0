// What a confined command does not get to see: credentials in the home, other homes, the directories where programs of
// the user's session have their sockets, and the agent directory. The rest of the home is readable, because toolchains
// are there.

import { existsSync, lstatSync, readFileSync, type Stats, statSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { systemCode } from "../../base/errors.js";
import { canonical } from "../../files/paths/find-roots.js";
import { isWithin } from "../../files/paths/resolve-path.js";
import type { Environment } from "../child-environment.js";
import type { BoxRules } from "./box.js";
import type { Cover } from "./mount-plan.js";

const credentials = [
  ...[".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".npmrc", ".pypirc"],
  ...[".config/gh", ".config/gcloud", ".config/op", ".local/share/keyrings", ".password-store"],
];
const browserProfiles = [
  ...[".mozilla", ".thunderbird", ".librewolf", "snap/firefox", "snap/chromium", ".var/app/org.mozilla.firefox"],
  ...["google-chrome", "chromium", "BraveSoftware", "microsoft-edge", "vivaldi", "opera"].map(
    (name) => `.config/${name}`,
  ),
];
/** On macOS. */
const libraryPlaces = [
  ...["Keychains", "Cookies", "Safari", "Messages", "Mail"].map((name) => `Library/${name}`),
  ...["Google/Chrome", "Chromium", "BraveSoftware", "Microsoft Edge", "Firefox"].map(
    (name) => `Library/Application Support/${name}`,
  ),
];
export const hiddenInHome: readonly string[] = [...credentials, ...browserProfiles, ...libraryPlaces];

/** Of the machine and of the user that galley runs as: found once. */
export interface MachinePlaces {
  /** Private to each command. */
  readonly temporary: readonly string[];
  /** Of other users, of programs that run. */
  readonly hidden: readonly string[];
  /** In hidden places, and needed all the same. */
  readonly shown: readonly string[];
  /** The user's own, besides the one in the rules. */
  readonly homes: readonly string[];
}

export function findMachinePlaces(env: Environment): MachinePlaces {
  const homes = existing([homeOfUser(), env.HOME]).filter((home) => home !== "/");
  const groups = ["/home", "/Users", ...homes.map(dirname).filter((path) => /\/(?:home|users)$/i.test(path))];
  const others = [...groups, "/root", ...homesOfUsers()].filter((path) => !homes.includes(path));
  return {
    temporary: existing(["/tmp", "/var/tmp", tmpdir(), env.TMPDIR]).filter((path) => !homes.includes(path)),
    hidden: existing(["/run", "/var/run", env.XDG_RUNTIME_DIR, ...others]).filter(
      (path) => !homes.includes(path) && !systemPlaces.has(path),
    ),
    // A home that holds no person's files, and where one distribution has its programs.
    shown: existing(["/home/linuxbrew", "/run/current-system"]),
    homes,
  };
}

/** What exists of the hidden list, at this moment. A link stays, and what it leads to is hidden. */
export function findHidden(rules: BoxRules, machine: MachinePlaces): Cover[] {
  const homes = [...new Set([rules.home, ...machine.homes])];
  const wanted = [
    ...machine.hidden,
    ...homes.flatMap((home) => hiddenInHome.map((name) => join(home, name))),
    rules.agentDir,
    ...rules.hide,
  ];
  const covers = new Map<string, Cover>();
  for (const path of wanted) {
    if (rules.show.some((shown) => isWithin(path, shown))) continue;
    const cover = coverFor(path);
    if (cover !== undefined) covers.set(cover.path, cover);
  }
  return [...covers.values()];
}

/** Programs ask it for names when they have the network; its target is often in a hidden place. */
export function nameServerFile(): string[] {
  return existing(["/etc/resolv.conf"]);
}

function coverFor(path: string): Cover | undefined {
  // Most of the list does not exist, and an error costs more than the call.
  const entry = entryAt(path);
  if (entry === undefined) return undefined;
  if (!entry.isSymbolicLink()) return { path: canonical(path), type: entry.isDirectory() ? "directory" : "file" };
  const target = canonical(path);
  const type = statSync(path, { throwIfNoEntry: false })?.isDirectory() ? "directory" : "file";
  return existsSync(target) ? { path: target, type } : undefined;
}

/** Undefined also where another user has shut the way, as to the home of root in a user namespace. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (systemCode(error) !== "EACCES") throw error;
    const directory = entryAt(dirname(path));
    // What is the user's own a command could open.
    if (directory !== undefined && directory.uid === process.getuid?.()) throw error;
    return undefined;
  }
}

/** A user in a container may be a number alone. */
function homeOfUser(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** Directories of people, not of services: theirs are in places that all programs use. */
function homesOfUsers(): string[] {
  return readOrEmpty("/etc/passwd")
    .split("\n")
    .map((line) => line.split(":"))
    .filter(([, , uid]) => Number(uid) >= 1000 && Number(uid) < 60_000)
    .map(([, , , , , home]) => home ?? "")
    .filter((home) => home.startsWith("/"));
}

/** A wrong entry in the list of users must not hide the system. */
const systemPlaces = new Set(
  [
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/media",
    "/mnt",
    "/nix",
    "/opt",
    "/proc",
    "/sbin",
    "/srv",
  ].concat(["/sys", "/tmp", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/var", "/var/lib", "/var/tmp"]),
);

function existing(paths: readonly (string | undefined)[]): string[] {
  const found = paths.filter((path) => path?.startsWith("/") && existsSync(path)) as string[];
  return [...new Set(found.map(canonical))];
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
