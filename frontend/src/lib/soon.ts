/**
 * A function that runs at once and then at most once in `everyMs`, the last call never lost: a storm of events must not
 * become a storm of requests.
 */
export function atMostEvery<K>(everyMs: number, run: (key: K) => void): (key: K) => void {
  const waiting = new Map<K, boolean>();
  return function call(key: K): void {
    if (waiting.has(key)) {
      waiting.set(key, true);
      return;
    }
    run(key);
    waiting.set(key, false);
    setTimeout(() => {
      const again = waiting.get(key) === true;
      waiting.delete(key);
      if (again) call(key);
    }, everyMs);
  };
}
