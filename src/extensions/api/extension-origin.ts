// Where an extension comes from, and whose it is.

import type { ModuleSource } from "../discover/findings.js";

export interface ExtensionOrigin {
  /** As the user named it, for messages. */
  readonly path: string;
  readonly realPath: string;
  readonly source?: ModuleSource;
  /** Part of the project. */
  readonly needsTrust: boolean;
}
