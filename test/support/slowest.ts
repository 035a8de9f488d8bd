// A reporter that names the slowest test files, so that a file that has become slow is seen.
import type { Reporter, TestModule, Vitest } from 'vitest/node';

const COUNT = 10;

/** Seconds of a file's imports, hooks and tests. */
const secondsOf = (module: TestModule): number => {
  const { collectDuration, duration } = module.diagnostic();
  return (collectDuration + duration) / 1000;
};

export default class Slowest implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= COUNT) return;
    const slowest = modules
      .map((module) => ({ name: module.relativeModuleId, seconds: secondsOf(module) }))
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, COUNT);
    const named = slowest.map(({ name, seconds }) => `${name} ${seconds.toFixed(0)} s`);
    this.#vitest!.logger.log(`Slowest of ${modules.length} files: ${named.join(', ')}`);
  }
}
