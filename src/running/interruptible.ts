// Measuring within a build, and its reaction to a signal or to the end of its caller.
import { whenOrphaned } from '../system/parent.ts';
import { exitLike } from '../system/run.ts';

const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Does something that ends soon when its signal is aborted. A signal of the system that asks for an end does that, and then
 * ends this process by that signal. When the caller has gone, what is left is the compile that would have gone on
 * without us too.
 * @param tidy called before this process ends by a signal
 */
export async function interruptible<T>(
  deed: (signal: AbortSignal) => Promise<T>,
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
    return await deed(interrupted.signal);
  } finally {
    stopWatching();
    for (const name of ENDINGS) process.off(name, interrupt);
    const { signal } = ending;
    if (signal !== null) {
      tidy();
      exitLike({ code: null, signal, forwarded: signal });
    }
  }
}
