// Ctrl-C during measurements.
import { warn } from './output.ts';

/**
 * Two signals until `using` ends. The first Ctrl-C sets `finishEarly`: searches decide by their trials. The second sets `abort`: everything
 * ends at once.
 * @param clear removes the progress of searches; undefined for an action without searches
 */
export function interrupts(clear?: () => void) {
  const [finishEarly, abort] = [new AbortController(), new AbortController()];
  const interrupt = () => {
    const isFirst = !finishEarly.signal.aborted;
    (isFirst ? finishEarly : abort).abort();
    if (!isFirst || clear === undefined) return;
    clear();
    warn('stopping: running searches decide by their trials; press Ctrl-C again to end at once');
  };
  process.on('SIGINT', interrupt);
  return {
    ...{ finishEarly: finishEarly.signal, abort: abort.signal },
    [Symbol.dispose]: () => process.off('SIGINT', interrupt),
  };
}
