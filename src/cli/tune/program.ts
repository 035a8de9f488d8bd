// `iree-tuned tune` of one input.
import { withBases } from '../../base/open.ts';
import type { Decision } from '../../decision/decision.ts';
import { toSearch } from '../../decision/look-up.ts';
import { KeptModules } from '../../plan/kept-modules.ts';
import { describeVerdict } from '../../populate/describe.ts';
import { concludeProgram, openProgram, tuneDispatches } from '../../populate/programs.ts';
import { explainOperations } from '../../report/explain.ts';
import { placeOf } from '../../store/subject.ts';
import { counted, formatRatio, formatSeconds, shortKey } from '../../system/format.ts';
import { UserError } from '../../system/user-error.ts';
import { table } from '../../report/table.ts';
import type { Work } from '../../tuning/tune-workloads.ts';
import { needsProgram } from '../../workload/workload.ts';
import { configurationKey } from '../../backend/index.ts';
import type { CliCommand } from '../command.ts';
import { openDatabase } from '../database.ts';
import { atDevice, inspectInput } from '../input.ts';
import { page } from '../output.ts';
import { readSpaceFile, restricted, search } from '../search.ts';
import type { TuneOptions } from './tune.ts';

/** Tunes one input, and prints its operations. Ends with 1 where a workload is left without a result. */
export async function tuneProgram(input: string, options: TuneOptions, cli: CliCommand): Promise<void> {
  const surroundings = cli.surroundings();
  const { command: asked, inspected: read } = await inspectInput(input, cli.flags, surroundings);
  const own = await openDatabase(surroundings);
  const store = await withBases(own, [placeOf(read.site)], surroundings);
  const written = { command: asked, inspected: atDevice(read, store, surroundings) };
  const { site } = written.inspected;
  if (site.whyNotHere !== null) throw new UserError(`${input}: ${site.whyNotHere.reason}`);
  const kept = new KeptModules();
  const means = { store, surroundings, kept };
  const { open } = await openProgram(written, means);
  const { command, inspected, lookup } = open;
  const anew = keysToTuneAgain(lookup.decide(new Map()), options.again === true);
  const missing = new Set(toSearch(lookup, options.searchSpace !== undefined).map(({ key }) => key));
  const wanted = restricted(
    lookup.works.filter(({ key }) => missing.has(key) || anew.has(key)),
    site,
    readSpaceFile(options.searchSpace),
  );
  const { waitedSeconds } = inspected.input;
  const begun = performance.now();
  const inDispatches = await tuneDispatches(open, wanted, anew, means);
  const spentSeconds = waitedSeconds + (performance.now() - begun) / 1000;
  const measured = { command, site, waitedSeconds: spentSeconds };
  const alone = wanted.filter(({ workload }) => !needsProgram(workload));
  const { results, whyNot } = await search(alone, store, measured, surroundings, options, anew);
  const isOnDemand = options.verifyProgram === true;
  const concluded = await concludeProgram(open, whyNot, isOnDemand, means);
  kept.discard();
  store.close();
  const { decisions, verdict } = concluded;
  const operations = explainOperations(inspected.input, input, decisions, null);
  cli.print({ operations, program: verdict }, () => {
    const rows = operations.map((row, i) => {
      const evidence = decisions[i]!.evidence;
      return [
        row.location,
        shortKey(row.workload ?? row.operation),
        formatSeconds(evidence?.defaultSeconds ?? NaN),
        formatSeconds(evidence?.seconds ?? NaN),
        formatRatio(evidence?.ratio),
        row.configuration === null ? row.reason : configurationKey(row.configuration),
      ];
    });
    return [
      table(['where', 'workload', 'default', 'tuned', 'gain', 'configuration'], rows, page),
      ...unfinishedLines(decisions),
      ...(verdict === null ? [] : ['', describeVerdict(verdict, page)]),
    ].join('\n');
  });
  const isKnown = ({ key }: Work) => results.has(key) || inDispatches.results.has(key);
  if (!wanted.every(isKnown)) process.exitCode = 1;
}

/** The way to go on with unfinished searches; no line without one. */
export function unfinishedLines(decisions: readonly Pick<Decision, 'code'>[]): string[] {
  const count = decisions.filter(({ code }) => code === 'search-unfinished').length;
  return count === 0
    ? []
    : [`The search for ${counted(count, 'operation')} is not finished: run the same command again.`];
}

/** Keys of records to tune again: all on demand, else those of incomplete searches without a gain. */
function keysToTuneAgain(decisions: readonly Decision[], all: boolean): Set<string> {
  const again = decisions.filter(
    ({ configuration, evidence }) =>
      configuration !== null && (all || (configuration.kind === 'default' && evidence?.complete === false)),
  );
  return new Set(again.flatMap(({ tunable }) => tunable?.key ?? []));
}
