// Ctrl-C during measurements.

export interface Interrupts {
  /** Set by the first Ctrl-C: searches decide by their trials. */
  readonly finishEarly: AbortSignal;
  /** Set by the second Ctrl-C: everything ends at once. */
  readonly abort: AbortSignal;
}

/** Runs an action. Ctrl-C sets its signals meanwhile. @param onFirst called at the first Ctrl-C */
export async function withInterrupts<T>(
  action: (interrupts: Interrupts) => Promise<T>,
  onFirst: () => void = () => undefined,
): Promise<T> {
  const [finishEarly, abort] = [new AbortController(), new AbortController()];
  const interrupt = () => {
    if (!finishEarly.signal.aborted) onFirst();
    (finishEarly.signal.aborted ? abort : finishEarly).abort();
  };
  process.on('SIGINT', interrupt);
  try {
    return await action({ finishEarly: finishEarly.signal, abort: abort.signal });
  } finally {
    process.off('SIGINT', interrupt);
  }
}
