// Runs many small asynchronous tasks, a few at a time.

/** In order, `width` at a time. After a failure no new task starts; it is thrown when the running ones have ended. */
export async function inLanes<T>(
  items: Iterable<T>,
  width: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const list = [...items];
  const failures: unknown[] = [];
  let next = 0;
  const lane = async () => {
    while (next < list.length && failures.length === 0)
      await work(list[next++] as T).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(width, list.length) }, lane));
  if (failures.length > 0) throw failures[0];
}
