// Stops measuring in a build after a signal, and after the end of the build's caller.
import type { Terminal } from '../report/terminal.ts';
import { whenOrphaned } from '../system/parent.ts';
import { exitLike } from '../system/run.ts';

const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs an action that stops soon after its signal is aborted. A SIGINT, SIGTERM or SIGHUP aborts it, and ends this process afterwards. The
 * end of the caller aborts it too, but then the build goes on, because the compiler would also go on.
 * @param terminal its live line is removed at the end
 * @param tidy called before this process ends by a signal
 */
export async function interruptible<T>(
  terminal: Terminal,
  action: (signal: AbortSignal) => Promise<T>,
  tidy: () => void,
): Promise<T> {
  const interrupted = new AbortController();
  const ending: { signal: NodeJS.Signals | null } = { signal: null };
  const interrupt = (signal: NodeJS.Signals) => {
    ending.signal = signal;
    interrupted.abort();
  };
  for (const name of ENDINGS) process.on(name, interrupt);
  const stopWatching = whenOrphaned(() => {
    interrupted.abort();
  });
  try {
    return await action(interrupted.signal);
  } finally {
    stopWatching();
    for (const name of ENDINGS) process.off(name, interrupt);
    terminal.clear();
    const { signal } = ending;
    if (signal !== null) {
      tidy();
      exitLike({ code: null, signal, forwarded: signal });
    }
  }
}
