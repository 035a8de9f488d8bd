// A reporter for CI: a skipped test fails the run, unless it is of the full tier, or a filter of tags leaves it out.
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

export default class NoSkips implements Reporter {
  #isFiltered = false;

  onInit({ config }: Vitest): void {
    this.#isFiltered = config.tagsFilter !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const isSkipped = (test: TestCase) =>
      test.result().state === 'skipped' &&
      !test.tags.includes('full') &&
      !(this.#isFiltered && test.tags.length > 0);
    const skipped = modules.flatMap((module) => [...module.children.allTests()].filter(isSkipped));
    for (const { module, fullName } of skipped)
      process.stderr.write(`SKIPPED where CI is set: ${module.relativeModuleId}: ${fullName}\n`);
    if (skipped.length > 0) process.exitCode = 1;
  }
}
