// A client that gives a compile some seconds kills what it has started when they are over. That may be a shell that stands
// between it and us, and then nobody tells us.

/** Of whoever started us; asked for when the program is loaded, because it may end at any time. */
const parent = process.ppid;

/** How often is looked, in milliseconds. */
const INTERVAL = 250;

/**
 * Calls `onOrphaned` once when the process that started this one has ended, at the latest a moment after that.
 * @returns stops watching
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
