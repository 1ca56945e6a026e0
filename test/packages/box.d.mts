export interface DriveRequest {
  /** The package; without it, the agent alone. */
  folder?: string;
  steps?: object;
  /** What pi did for each command of the steps; without it the driver waits until it is quiet. */
  expected?: object[];
  isTimed?: boolean;
  isUsed?: boolean;
}

export const here: string;
export function whyNot(): string | undefined;
export function drive(agent: "pi" | "galley", request: DriveRequest): Promise<object>;
