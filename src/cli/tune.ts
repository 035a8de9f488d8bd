// `iree-tuned tune`: tuning ahead of the build.
import type { Command as Program } from 'commander';
import type { Decision } from '../decision/decision.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { concludeProgram, openProgram, tuneDispatches } from '../populate/tune-ahead.ts';
import { explainOperations } from '../report/explain.ts';
import { formatSeconds } from '../system/format.ts';
import { UserError } from '../system/user-error.ts';
import { table } from '../report/table.ts';
import { STRATEGIES } from '../search/index.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { isOperationWork } from '../workload/workload.ts';
import { configurationKey } from '../backend/index.ts';
import { describeVerdict } from './describe-verdict.ts';
import { atDevice, inspectInput, openDatabase, surroundingsOf } from './context.ts';
import { page } from './output.ts';
import { search, trialCount } from './search.ts';
import { restricted } from './search-space.ts';

export async function tuneInput(
  input: string,
  flags: readonly string[],
  options: {
    budget?: string;
    strategy: string;
    trials: string;
    searchSpace?: string;
    again?: boolean;
    json?: boolean;
    verifyProgram?: boolean;
  },
  program: Program,
): Promise<void> {
  const strategy = STRATEGIES[options.strategy]!;
  const trials = trialCount(options.trials);
  const { budget } = options;
  const surroundings = surroundingsOf(program, budget === undefined ? {} : { budget });
  const { command: asked, inspected: read } = await inspectInput(input, flags, surroundings);
  const store = await openDatabase(surroundings);
  const written = { command: asked, inspected: atDevice(read, store, surroundings) };
  const { site } = written.inspected;
  if (site.whyNotHere !== null) throw new UserError(`${input}: ${site.whyNotHere.reason}`);
  const kept = new KeptModules();
  const means = { store, surroundings, kept };
  const open = await openProgram(written, means);
  const { command, inspected, lookup } = open;
  const anew = keysToTuneAgain(lookup.decide(new Map()), options.again === true);
  // Where only some values are allowed, what was found among others is no reason to search.
  const isRestricted = options.searchSpace !== undefined;
  const missing = new Set([...lookup.misses, ...(isRestricted ? [] : lookup.narrow)].map(({ key }) => key));
  const wanted = restricted(
    lookup.works.filter(({ key }) => missing.has(key) || anew.has(key)),
    site,
    options.searchSpace,
  );
  const { waitedSeconds } = inspected.input;
  const begun = performance.now();
  const inDispatches = await tuneDispatches(open, wanted, anew, means);
  const spentSeconds = waitedSeconds + (performance.now() - begun) / 1000;
  const measured = { command, site, waitedSeconds: spentSeconds };
  const alone = wanted.filter(({ workload }) => isOperationWork(workload));
  const { results, whyNot } = await search(alone, store, measured, surroundings, {
    strategy,
    effort: { maxTrials: trials },
    again: anew,
  });
  const isOnDemand = options.verifyProgram === true;
  const { decisions, verdict } = await concludeProgram(open, whyNot, isOnDemand, means);
  kept.discard();
  store.close();
  if (options.json === true) {
    const operations = explainOperations(inspected.input, input, decisions, null);
    console.log(JSON.stringify({ operations, program: verdict }, null, 2));
  } else {
    const rows = explainOperations(inspected.input, input, decisions, null).map((row, i) => {
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
    console.log(table(['where', 'workload', 'default', 'tuned', 'gain', 'configuration'], rows, page));
    if (verdict !== null) console.log(`\n${describeVerdict(verdict)}`);
  }
  const isKnown = ({ key }: Work) => results.has(key) || inDispatches.results.has(key);
  if (!wanted.every(isKnown)) process.exitCode = 1;
}

/** Keys of records that are tuned anew: all on demand, else those of searches that found nothing and did not end. */
function keysToTuneAgain(decisions: readonly Decision[], all: boolean): Set<string> {
  const again = decisions.filter(
    ({ configuration, evidence }) =>
      all || (configuration?.kind === 'default' && evidence?.complete === false),
  );
  return new Set(again.flatMap(({ tunable }) => tunable?.key ?? []));
}
