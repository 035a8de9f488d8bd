// Runs of a program whose configurations each change only their own dispatches. One run with all configurations then answers questions
// about any subset.
import type { ProgramsRun } from './runs.ts';

/**
 * The same runs, but if the results with all configurations are correct, subsets are not compiled and run. Each dispatch of a subset has
 * its code in the whole program, or stock's. Without slower configurations the program only gets faster.
 * @param all keys of all workloads with a configuration
 */
export function independentRuns(all: readonly string[], runs: ProgramsRun): ProgramsRun {
  const isRight = async () => (await runs.compare(all)).results === 'equal';
  const some =
    <T>(ask: (keys: readonly string[]) => Promise<T>) =>
    async (keys: readonly string[]): Promise<T> =>
      ask((await isRight()) ? all : keys);
  return {
    compare: some(runs.compare),
    ratio: some(runs.ratio),
    async slower(keys) {
      return (await some(runs.slower)(keys)).filter(({ key }) => keys.includes(key));
    },
    measured(keys) {
      const whole = runs.measured(all);
      const isRight = whole.functions.length > 0 && whole.functions.every(({ equal }) => equal === true);
      const seen = isRight ? whole : runs.measured(keys);
      return { ...seen, workloads: seen.workloads.filter(({ key }) => keys.includes(key)) };
    },
  };
}
