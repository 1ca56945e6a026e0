export interface PageDeeds {
  scriptRuns: string[];
  requests: string[];
  dialogs: string[];
  violations: string[];
  strangeParts: string[];
}

export class Rig {
  static start(browserPath: string): Promise<Rig>;
  open(page: string, options: { bypass: boolean }): Promise<PageDeeds>;
  stop(): Promise<void>;
}

export function runAttacks(options: {
  rig: Rig;
  exportPage(sessionText: string): Promise<string>;
  count: number;
  seed: number;
}): Promise<{ [Name in keyof PageDeeds]: number } & { pages: number; problems: string[] }>;
