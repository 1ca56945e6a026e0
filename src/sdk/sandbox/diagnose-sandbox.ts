// What `galley doctor` says about confined and staged commands: what this machine can do, what layers take, and which
// programs are not confined.

import { systemClock } from "../../base/clock.js";
import { GalleyError, messageOf } from "../../base/errors.js";
import { silentLog } from "../../base/log.js";
import { listLayers } from "../../files/layer/clean-layers.js";
import { sizeText } from "../../files/layer/stage-limits.js";
import { findProject } from "../../files/paths/find-roots.js";
import { SessionAccess } from "../access/access-mode.js";
import { type ExtensionLocation, usersModules } from "../extensions/manage-extensions.js";
import type { Finding } from "../finding.js";
import { viewRootsOf } from "./box-rules.js";
import { ConfinedCommands } from "./confined-commands.js";
import type { SandboxEnvironment } from "./sandbox-machine.js";
import { systemView } from "./system-machine.js";

export async function diagnoseSandbox(location: ExtensionLocation): Promise<Finding[]> {
  const { settings } = location;
  const environment = { ...location, log: silentLog, clock: systemClock, project: findProject(location) };
  const access = new SessionAccess(settings, { defaultAccess: "workspace" });
  const { sandbox } = new ConfinedCommands({}, { environment, access, pending: noSession, record: noSession });
  await sandbox.learn();
  const { mode, mechanism, reason = "" } = sandbox.state;
  const stage = await stageText(environment);
  const rest = [await layersFinding(location), ...(await unconfinedFinding(location))];
  if (mechanism !== "none")
    return [
      { name: "sandbox", isOk: true, text: `${[mechanism, reason].filter(Boolean).join(". ")}; ${stage}` },
      ...rest,
    ];
  if (mode === "off") {
    const why = access.sandbox === "off" ? "sandbox is off: commands run with your rights" : reason;
    return [{ name: "sandbox", isOk: true, text: `none: ${why} ${stage}`.trim() }, ...rest];
  }
  const text = `${mode} is asked for and not available, so commands are refused: ${reason}`;
  const isProjects = [settings.sourceOf("sandbox"), settings.sourceOf("access")].includes("project");
  const mend = isProjects
    ? "The project's .galley/settings.json asks for it."
    : "galley config set sandbox off  lets commands run with your rights.";
  return [{ name: "sandbox", isOk: false, text, mend }, ...rest];
}

function noSession(): never {
  throw new GalleyError("unsupported", "There is no session.");
}

/** By a real view of this project, which is gone again. */
async function stageText(environment: SandboxEnvironment): Promise<string> {
  try {
    const roots = await viewRootsOf(environment);
    const view = await systemView({ environment, roots, sessionId: `doctor-${process.pid}`, hasPending: () => false });
    await view.close();
    return `staged commands: ${view.mechanism}`;
  } catch (error) {
    const { reason } = (GalleyError.is(error, "unsupported") ? (error.details ?? {}) : {}) as { reason?: unknown };
    return `staged commands: none (${typeof reason === "string" ? reason : messageOf(error)})`;
  }
}

async function layersFinding(location: ExtensionLocation): Promise<Finding> {
  const layers = await listLayers(location);
  const bytes = layers.reduce((sum, layer) => sum + layer.bytes, 0);
  const name = "layers";
  if (layers.length === 0) return { name, isOk: true, text: "none of staged commands" };
  const used = layers.filter(({ isInUse }) => isInUse).length;
  const text = `${layers.length} of staged commands, ${sizeText(bytes)}, ${used} in use. galley sessions gc removes the rest.`;
  return { name, isOk: true, text };
}

const maxNamed = 5;

/** What the user installed is not confined: it is the user's own. */
async function unconfinedFinding(location: ExtensionLocation): Promise<Finding[]> {
  const paths = (await usersModules(location)).map(({ path }) => path);
  if (paths.length === 0) return [];
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : "";
  const named = paths.slice(0, maxNamed).join(", ");
  return [{ name: "unconfined", isOk: true, text: `what your own extensions start: ${named}${more}` }];
}
