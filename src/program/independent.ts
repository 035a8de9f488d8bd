// A program whose dispatches do not depend on each other's configurations: what was seen with all of them says what it comes to
// with some.
import type { ProgramsRun } from './runs.ts';

/**
 * The same runs, but a program whose results are right with all configurations is not compiled and run again with some of them:
 * each dispatch has the code that it had, or stock's. Without those that are slower the program is no slower than with them.
 * @param all keys of all workloads that have a configuration
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
    verdictsOf: (keys) => (runs.verdictsOf(all).length > 0 ? runs.verdictsOf(all) : runs.verdictsOf(keys)),
    comparedIn(keys) {
      const seen = runs.comparedIn(all);
      return (seen.length > 0 ? seen : runs.comparedIn(keys)).filter(({ key }) => keys.includes(key));
    },
    stockSecondsBeside: (keys) =>
      runs.stockSecondsBeside(all).size > 0 ? runs.stockSecondsBeside(all) : runs.stockSecondsBeside(keys),
    secondsIn: (keys) => (runs.secondsIn(all).size > 0 ? runs.secondsIn(all) : runs.secondsIn(keys)),
  };
}
