// Ctrl-C during measurements.

/** Says that the first Ctrl-C ends a search. */
export const STOPPING =
  'stopping: running searches decide by their trials; press Ctrl-C again to end at once';

/**
 * Runs an action with two signals. The first Ctrl-C sets `finishEarly`: searches decide by their trials. The second sets `abort`:
 * everything ends at once.
 */
export async function withInterrupts<T>(
  action: (signals: { readonly finishEarly: AbortSignal; readonly abort: AbortSignal }) => Promise<T>,
): Promise<T> {
  const [finishEarly, abort] = [new AbortController(), new AbortController()];
  const interrupt = () => {
    (finishEarly.signal.aborted ? abort : finishEarly).abort();
  };
  process.on('SIGINT', interrupt);
  try {
    return await action({ finishEarly: finishEarly.signal, abort: abort.signal });
  } finally {
    process.off('SIGINT', interrupt);
  }
}
