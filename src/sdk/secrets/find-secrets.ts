// The secrets that are known without a session, for programs that only show what sessions left: variables, the credential
// file and the models file. No command is run for them.

import { silentLog } from "../../base/log.js";
import type { TextMask } from "../../base/text-mask.js";
import { discoverEnvironment } from "../../config/discover.js";
import { loadModelRegistry } from "../load-models.js";
import { KnownSecrets, secretsIn } from "./known-secrets.js";

export async function findSecrets({ cwd, agentDir }: { cwd: string; agentDir: string }): Promise<TextMask> {
  const secrets = new KnownSecrets();
  const env = discoverEnvironment({ cwd, agentDir, log: silentLog });
  secrets.learn(secretsIn(env));
  await loadModelRegistry({ agentDir, env, log: silentLog, onSecrets: (found) => secrets.learn(found) });
  return secrets;
}
