// `iree-tuned tune`: tuning ahead of the build.
import type { Command as Program } from 'commander';
import type { Decision } from '../decision/decision.ts';
import { lookUp } from '../pipeline/decide.ts';
import { tunables } from '../pipeline/inspect.ts';
import { programIdentity } from '../pipeline/plan-memory.ts';
import { programMemory } from '../pipeline/program-memory.ts';
import type { ProgramVerdict } from '../pipeline/verify-program.ts';
import { explainOperations } from '../report/explain.ts';
import { formatSeconds } from '../report/format.ts';
import { progressDisplay } from '../report/progress.ts';
import { table } from '../report/table.ts';
import { coordinateDescent } from '../search/descent.ts';
import { gridSearch } from '../search/grid.ts';
import { randomSearch } from '../search/random.ts';
import type { StrategyFactory } from '../search/strategy.ts';
import { configurationKey } from '../space/configuration.ts';
import { tuneMisses } from '../tuner/tune-misses.ts';
import { DEFAULT_EFFORT } from '../tuner/tune-workload.ts';
import { inspectInput, openDatabase, surroundingsOf, UsageError } from './context.ts';

const STRATEGIES: Readonly<Record<string, StrategyFactory>> = {
  descent: coordinateDescent,
  random: randomSearch,
  grid: gridSearch,
};

export async function tuneInput(
  input: string,
  flags: readonly string[],
  options: {
    budget: string;
    strategy: string;
    trials: string;
    again?: boolean;
    json?: boolean;
    verifyProgram?: boolean;
  },
  program: Program,
): Promise<void> {
  const strategy = STRATEGIES[options.strategy];
  if (strategy === undefined)
    throw new UsageError(`--strategy ${options.strategy}: it takes ${Object.keys(STRATEGIES).join(', ')}`);
  const trials = Number(options.trials);
  if (!Number.isSafeInteger(trials) || trials < 1)
    throw new UsageError(`--trials ${options.trials}: it takes a whole number from 1 up`);
  const surroundings = surroundingsOf(program, { budget: options.budget });
  const { command, subjects } = await inspectInput(input, flags, surroundings);
  if (subjects.whyNotHere !== null) throw new UsageError(`${input}: ${subjects.whyNotHere}`);
  const store = await openDatabase(surroundings);
  const lookup = lookUp(store, subjects);
  const again = keysToTuneAgain(lookup.decide(new Map(), ''), options.again === true);
  const known = new Set(lookup.misses.map(({ key }) => key));
  const wanted = [
    ...lookup.misses,
    ...tunables(subjects).filter(({ key }) => again.has(key) && !known.has(key) && known.add(key)),
  ];

  // The first Ctrl-C ends the search and decides with what is known; the second ends everything. Trials are kept.
  const [finishEarly, abort] = [new AbortController(), new AbortController()];
  const interrupt = () => {
    (finishEarly.signal.aborted ? abort : finishEarly).abort();
  };
  process.on('SIGINT', interrupt);
  const display = progressDisplay();
  const { results, whyNot } = await tuneMisses(wanted, store, command, subjects, surroundings, {
    budgetSeconds: surroundings.settings.budgetSeconds,
    signal: abort.signal,
    finishEarly: finishEarly.signal,
    strategy,
    effort: { ...DEFAULT_EFFORT, maxTrials: trials },
    again,
    onProgress: (progress) => {
      display.show(progress);
    },
  });
  display.clear();
  process.off('SIGINT', interrupt);
  // Looked up again, so that what is shown is what the next build will get.
  const decisions = lookUp(store, subjects).decide(new Map(), whyNot);
  store.close();
  let verdict: ProgramVerdict | null = null;
  if (options.verifyProgram === true) {
    const { verifyTuned } = await import('../pipeline/verify-program.ts');
    verdict = await verifyTuned(command, subjects, decisions, surroundings);
    const identity = programIdentity(command, subjects.digest);
    programMemory.remember(surroundings.cacheDirectory, { identity, leftOut: verdict.leftOut });
  }
  if (options.json === true) {
    const operations = explainOperations(subjects.bytes, input, decisions, null);
    console.log(JSON.stringify(verdict === null ? operations : { operations, program: verdict }, null, 2));
  } else {
    const rows = explainOperations(subjects.bytes, input, decisions, null).map((row, i) => {
      const evidence = decisions[i]!.evidence;
      return [
        row.location,
        (row.workload ?? row.operation).replace(/^contraction /, ''),
        formatSeconds(evidence?.defaultSeconds ?? NaN),
        formatSeconds(evidence?.seconds ?? NaN),
        evidence === null ? '-' : `${evidence.ratio.toFixed(2)}x`,
        row.configuration === null ? row.reason : configurationKey(row.configuration),
      ];
    });
    console.log(table(['where', 'workload', 'default', 'tuned', 'gain', 'configuration'], rows));
    if (verdict !== null) console.log(`\n${describeVerdict(verdict)}`);
  }
  if (wanted.some(({ key }) => !results.has(key))) process.exitCode = 1;
}

/** Keys of records that are tuned anew: all on demand, else those of searches that found nothing and did not end. */
function keysToTuneAgain(decisions: readonly Decision[], all: boolean): Set<string> {
  const again = decisions.filter(
    ({ configuration, evidence }) =>
      all || (configuration?.kind === 'default' && evidence?.complete === false),
  );
  return new Set(again.flatMap(({ tunable }) => tunable?.key ?? []));
}

/** What became of the program as a whole. */
function describeVerdict({ functions, skipped, leftOut }: ProgramVerdict): string {
  const rows = functions.map(({ name, timing, equal, reason }) => [
    `@${name}`,
    formatSeconds(timing?.seconds[0] ?? NaN),
    formatSeconds(timing?.seconds[1] ?? NaN),
    timing === null ? '-' : `${timing.ratio.toFixed(2)}x`,
    equal === true ? 'equal' : equal === false ? 'DIFFERENT' : '-',
    reason ?? '',
  ]);
  return [
    rows.length === 0
      ? 'The program is compiled as it is without tuning.'
      : table(['program', 'stock', 'tuned', 'gain', 'outputs', ''], rows),
    ...skipped.map(({ name, reason }) => `@${name} was not run: ${reason}`),
    ...leftOut.map((key) => `left to the default, because the program is worse with it: ${key}`),
  ].join('\n');
}
