export interface Way {
  readonly user: string;
  readonly mechanism: "bubblewrap" | "namespaces";
}
export interface Prepared {
  readonly directory: string;
}
export function ways(): Way[];
export function obstacle(way: Way): string | undefined;
export interface Result {
  readonly output: string;
  readonly end?: { readonly exitCode: number };
  readonly error?: string;
}
export function runTasks(
  prepared: Prepared,
  way: Way,
  tasks: readonly { readonly command: string; readonly isBoxed: boolean }[],
): Promise<{ readonly results: readonly Result[] }>;
export function prepareWorker(directory: string): Promise<Prepared>;
