export interface Essence {
  readonly ran: object[];
}

export function essence(report: object, bare: object): Essence;
export function digested(essence: Essence): Essence;
export function differences(pi: Essence, galley: Essence): Record<"loads" | "offers" | "runs" | "newSession", string[]>;
