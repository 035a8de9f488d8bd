// Ctrl-C during measurements.
import { warn } from './output.ts';

/**
 * Runs an action with two signals. The first Ctrl-C sets `finishEarly`: searches decide by their trials. The second sets `abort`:
 * everything ends at once.
 * @param clear removes the progress of searches; undefined for an action without searches
 */
export async function withInterrupts<T>(
  action: (signals: { readonly finishEarly: AbortSignal; readonly abort: AbortSignal }) => Promise<T>,
  clear?: () => void,
): Promise<T> {
  const [finishEarly, abort] = [new AbortController(), new AbortController()];
  const interrupt = () => {
    const isFirst = !finishEarly.signal.aborted;
    (isFirst ? finishEarly : abort).abort();
    if (!isFirst || clear === undefined) return;
    clear();
    warn('stopping: running searches decide by their trials; press Ctrl-C again to end at once');
  };
  process.on('SIGINT', interrupt);
  try {
    return await action({ finishEarly: finishEarly.signal, abort: abort.signal });
  } finally {
    process.off('SIGINT', interrupt);
  }
}
