// Detects the end of the parent process. A client with a time limit may kill a shell between it and this process, which sends this
// process no signal.

/** Parent at load time, because the parent may end at any time. */
const parent = process.ppid;

/** Interval of the check in milliseconds. */
const INTERVAL = 250;

/**
 * Calls `onOrphaned` once after the parent's end.
 * @returns a function that ends the check
 */
export function whenOrphaned(onOrphaned: () => void): () => void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onOrphaned();
  }, INTERVAL);
  return () => {
    clearInterval(timer);
  };
}
