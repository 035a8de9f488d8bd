// `iree-tuned tune` of one input.
import { withBases } from '../../base/open.ts';
import type { Decision } from '../../decision/decision.ts';
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
import { decisionsFor } from '../../wrapper/several-targets.ts';
import { configurationKey } from '../../backend/index.ts';
import type { CliCommand } from '../command.ts';
import { openDatabase } from '../database.ts';
import { atDevice, inspectEach, type InspectedPart } from '../input.ts';
import { page } from '../output.ts';
import { search, worksToSearch } from '../search.ts';
import type { TuneOptions } from './tune.ts';

/** Tunes one input for each of its targets, and prints its operations. Ends with 1 where a workload is left without a result. */
export async function tuneProgram(input: string, options: TuneOptions, cli: CliCommand): Promise<void> {
  const parts = await inspectEach(input, cli.flags, cli.surroundings());
  const each = await Array.fromAsync(parts, (part) => tuneTarget(input, part, options, parts.length > 1));
  const operations = each.flatMap((one) => one.operations);
  // Operations name their target if there are several, and each target has a program of its own.
  const program = each.length === 1 ? each[0]!.verdict : null;
  cli.print({ operations, program }, () => each.map(({ text }) => text()).join('\n\n'));
  if (!each.every(({ isComplete }) => isComplete)) process.exitCode = 1;
}

/** Tunes for one target. @param isOneOfSeveral whether the flags have several targets */
async function tuneTarget(
  input: string,
  { command: asked, inspected: read, surroundings }: InspectedPart,
  options: TuneOptions,
  isOneOfSeveral: boolean,
) {
  const own = await openDatabase(surroundings);
  using store = await withBases(own, [placeOf(read.site)], surroundings);
  const written = { command: asked, inspected: atDevice(read, store, surroundings) };
  const { site } = written.inspected;
  if (site.whyNotHere !== null) throw new UserError(`${input}: ${site.whyNotHere.reason}`);
  const kept = new KeptModules();
  const means = { store, surroundings, kept };
  const { open } = await openProgram(written, means);
  const { command, inspected, lookup } = open;
  const anew = keysToTuneAgain(lookup.decide(new Map()), options.again === true);
  const wanted = worksToSearch(lookup.works, lookup, anew, site, options.searchSpace);
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
  const { verdict } = concluded;
  const { backend } = site.target.target;
  const decisions = isOneOfSeveral ? decisionsFor(backend, concluded.decisions) : concluded.decisions;
  const operations = explainOperations(inspected.input, input, decisions, null);
  const text = () => {
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
    const described = [
      table(['where', 'workload', 'default', 'tuned', 'gain', 'configuration'], rows, page),
      ...unfinishedLines(decisions),
      ...(verdict === null ? [] : ['', describeVerdict(verdict, page)]),
    ].join('\n');
    return isOneOfSeveral ? `For ${backend}:\n\n${described}` : described;
  };
  const isKnown = ({ key }: Work) => results.has(key) || inDispatches.results.has(key);
  return { operations, verdict, text, isComplete: wanted.every(isKnown) };
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
