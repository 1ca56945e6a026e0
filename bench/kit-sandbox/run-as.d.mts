export interface Way {
  readonly user: string;
  readonly mechanism: "bubblewrap" | "namespaces";
}
export interface Prepared {
  readonly directory: string;
}
export function ways(): Way[];
export function obstacle(way: Way): string | undefined;
export function prepareWorker(directory: string): Promise<Prepared>;
