// The report on all comparisons.
import type { Comparison, NoComparison, State } from './comparison.ts';

export class Report {
  readonly #states = new Map<string, Map<State, number>>();
  readonly #endings = new Map<string, number>();
  /** Comparisons that are not `same`. */
  readonly findings: Comparison[] = [];
  readonly notCompared: NoComparison[] = [];
  files = 0;
  comparisons = 0;

  add(result: readonly Comparison[] | NoComparison): void {
    if (!isList(result)) {
      this.notCompared.push(result);
      return;
    }
    for (const comparison of result) {
      const { mode, state } = comparison;
      const ofMode = this.#states.get(mode) ?? new Map<State, number>();
      this.#states.set(mode, ofMode.set(state, (ofMode.get(state) ?? 0) + 1));
      this.comparisons++;
      if (state !== 'same') this.findings.push(comparison);
    }
    const ending = result[0]?.ending ?? '';
    this.#endings.set(ending, (this.#endings.get(ending) ?? 0) + 1);
  }

  get differences(): readonly Comparison[] {
    return this.findings.filter(({ state }) => state === 'different');
  }

  /** Whether no comparison differs, and none was impossible, except because of stock. */
  get isGood(): boolean {
    return this.differences.length === 0 && this.notCompared.every(({ excused }) => excused);
  }

  toJSON(): object {
    return {
      files: this.files,
      comparisons: this.comparisons,
      states: Object.fromEntries([...this.#states].map(([mode, of]) => [mode, Object.fromEntries(of)])),
      stock: Object.fromEntries(this.#endings),
      findings: this.findings,
      notCompared: this.notCompared,
    };
  }

  summary(): string {
    const list = (counts: ReadonlyMap<string, number>) =>
      [...counts]
        .sort(([, a], [, b]) => b - a)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ');
    return [
      `${this.files} files, ${this.comparisons} comparisons`,
      `stock's compiles: ${list(this.#endings)}`,
      ...[...this.#states].map(([mode, states]) => `${mode}: ${list(states)}`),
      ...this.#codeLines(),
      ...this.notCompared.map(({ file, shape, reason }) => `not compared: ${file} (${shape}): ${reason}`),
      `differences: ${this.differences.length}`,
    ].join('\n');
  }

  /** Number of tuned programs that were run, and why the others were not. */
  #codeLines(): string[] {
    const verdicts = this.findings.flatMap(({ verdict }) => (verdict === null ? [] : [verdict]));
    if (verdicts.length === 0) return [];
    const compared = verdicts.reduce((sum, verdict) => sum + verdict.compared, 0);
    const maxError = Math.max(...verdicts.map((verdict) => verdict.maxError));
    const notRun = new Map<string, number>();
    for (const { reasons } of verdicts.filter(({ equal }) => equal !== false))
      for (const reason of reasons) notRun.set(reason, (notRun.get(reason) ?? 0) + 1);
    return [
      `other code: ${verdicts.length} modules, results of ${compared} functions compared, largest error ${maxError}`,
      ...[...notRun].map(([reason, count]) => `  not run: ${count} x ${reason}`),
    ];
  }
}

/** A comparison that is not `same`, as text. */
export function describe({ file, shape, mode, state, ending, notes, verdict }: Comparison): string {
  const more = (verdict?.reasons ?? []).map((reason) => `program: ${reason}`);
  const lines = [`${state}: ${file} (${shape}, ${mode}; stock: ${ending})`, ...notes, ...more];
  return lines.join('\n  ');
}

const isList = (result: readonly Comparison[] | NoComparison): result is readonly Comparison[] =>
  Array.isArray(result);
