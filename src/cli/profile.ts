// `iree-tuned profile`
import type { Input } from '../input/input.ts';
import { lookUp, workloadsOf } from '../decision/look-up.ts';
import { CONTRACTIONS } from '../populate/shape.ts';
import { populationSite } from '../populate/site.ts';
import { isSwept, shapesOf, type SweepText } from '../populate/sweep.ts';
import { keepCandidates } from '../compat/candidates.ts';
import {
  allOf,
  dispatchName,
  gflopsOf,
  profiled,
  spaceSizes,
  timedCandidates,
  type Measurement,
} from '../compat/measurement.ts';
import { operationsOf, splitKSlices } from '../compat/operation.ts';
import { patternsOf } from '../compat/patterns.ts';
import { consoleBlock, writeReport, type Tags } from '../compat/report.ts';
import { boundOf, lossOf, type DeviceRates } from '../report/loss.ts';
import { lossText } from '../report/loss-text.ts';
import { knownRates, ratesPlaceOf } from '../running/known-rates.ts';
import { measureLoss } from '../running/measure-loss.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Store } from '../store/store.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { operationsOfShapes } from '../populate/executor.ts';
import { because } from '../system/reason.ts';
import { UserError } from '../system/user-error.ts';
import { workloadAmount } from '../workload/workload.ts';
import { CliCommand, type SearchOptions } from './command.ts';
import { openDatabase } from './database.ts';
import { UsageError } from './failure.ts';
import { inspectInput, siteAt, withTarget } from './input.ts';
import { decideByRecords } from './by-records.ts';
import { interrupts } from './interrupt.ts';
import { page, warn } from './output.ts';
import { type Measured, search, worksToSearch } from './search.ts';

interface Options extends SweepText, SearchOptions {
  readonly dispatches?: string;
  readonly all?: boolean;
  readonly output?: string;
  readonly tags?: string;
  readonly append?: boolean;
  readonly keep?: string;
}

export const profile = new CliCommand(
  'profile',
  'report the default and the best time of each operation of an input or a sweep, as dispatch profilers do',
)
  .argument('[input]', 'MLIR or ONNX file')
  .withFlags('[input]')
  .sweep('matmul, batch_matmul, both also with _transpose_a or _transpose_b', 'no')
  .option('--dispatches <patterns>', 'only dispatches whose names match: matmul_512*dist_64x, ...')
  .option('--all', 'all candidates (default: the default and the best)')
  .output('path of a CSV; run.log goes into the same folder')
  .option('--append', 'append to the CSV')
  .option('--tags <tags>', 'first columns of the CSV: NAME:VALUE, ...')
  .option('--keep <dir>', 'write each candidate as MLIR, and a CSV of the results')
  .budget('time for all workloads')
  .search()
  .json()
  .examples(
    ['iree-tuned profile model.mlir -o profile.csv', 'the default and the best of each operation'],
    ['iree-tuned profile --m 64:1024:128 --n 512 --k 512 --all', 'all candidates of a sweep'],
    ['iree-tuned profile model.mlir --keep candidates', 'each candidate as a file'],
  )
  .action(profileInput);

/** Ends with 1 where an operation is not decided. */
async function profileInput(input: string | undefined, options: Options, command: CliCommand): Promise<void> {
  const begun = new Date();
  const tags = tagsOf(options.tags);
  const patterns = patternsOf(options.dispatches ?? 'all');
  const surroundings = command.surroundings();
  using store = await openDatabase(surroundings);
  const { measured, input: read } = await readOperations(input, options, command.flags, store, surroundings);
  const { site } = measured;
  if (site.whyNotHere !== null) throw new UserError(`${input ?? 'profile'}: ${site.whyNotHere.reason}`);
  const all = workloadsOf(read, site, surroundings.settings);
  const lookup = lookUp(store, read, site, surroundings.settings);
  const slices = splitKSlices(measured.command.expanded);
  const names = operationsOf(all, slices);
  const works = all.filter((_, i) => patterns.mayBeWanted(names[i]!.name));

  const again = new Set(options.again === true ? works.map(({ key }) => key) : []);
  const wanted = worksToSearch(works, lookup, again, site, options.searchSpace);
  const prepared = new Date();
  const { whyNot } = await search(wanted, store, measured, surroundings, options, again);
  const ended = new Date();
  const lost = input === undefined ? null : await lossOfInput(input, command.flags, store, surroundings);
  const rates = knownRates(ratesPlaceOf(site), store);
  const found = profiled(all, store, site, slices).filter(({ key }) => works.some((one) => one.key === key));

  const every = found.flatMap(allOf).filter((one) => patterns.isWanted(dispatchName(one)));
  // A pattern may match any candidate.
  const isBrief = options.all !== true && options.dispatches === undefined;
  const shown = isBrief ? found.flatMap((one) => allOf({ ...one, others: [] })) : every;
  command.print(
    shown.map((one) => plain(one, rates)),
    () => {
      const blocks = shown.map(consoleBlock).join('\n');
      return lost === null ? blocks : [blocks, lost].filter((part) => part !== '').join('\n\n');
    },
  );
  if (options.output !== undefined) {
    const run = { begun, prepared, ended, spaceSizes: spaceSizes(wanted, site) };
    const extra = { tags, append: options.append === true };
    writeReport(options.output, shown, { ...run, valid: timedCandidates(every) }, extra);
  }
  if (options.keep !== undefined) await keepCandidates(options.keep, every, site, surroundings);
  for (const { operation, decided } of found) {
    if (decided !== null) continue;
    warn(`${operation.name} is not decided: ${whyNot.reason}`);
    process.exitCode = 1;
  }
}

/**
 * Reads tags such as `name:value,name:value`.
 * @throws UsageError
 */
const tagsOf = (text = ''): Tags =>
  text
    .split(',')
    .filter((tag) => tag !== '')
    .map((tag) => {
      const [, name, value] = /^([^:]+):(.*)$/s.exec(tag) ?? [];
      if (name === undefined || value === undefined) throw new UsageError(`--tags ${tag}: write NAME:VALUE`);
      return [name, value];
    });

/** The operations of the input, or of a sweep's shapes, which are measured alone as `iree-tuned tune` measures them. */
async function readOperations(
  input: string | undefined,
  options: Options,
  flags: readonly string[],
  store: Store,
  surroundings: Surroundings,
): Promise<{ measured: Measured; input: Pick<Input, 'reading' | 'operations'> }> {
  if ((input !== undefined) === isSwept(options))
    throw new UsageError('profile needs one input, or a sweep such as --m 64:1024:64 --n 512 --k 512');
  if (input !== undefined) {
    const { command, inspected } = await inspectInput(input, flags, surroundings);
    const { input: read } = inspected;
    const site = siteAt(inspected.site, store, surroundings);
    return { measured: { command, site, waitedSeconds: read.waitedSeconds }, input: read };
  }
  const shapes = shapesOf({ rhsConstant: 'no', ...options }, CONTRACTIONS);
  return withScratchFolder(surroundings.cacheDirectory, 'profile', async (folder) => {
    const at = await populationSite(withTarget(flags), 'profile', surroundings);
    const found = await operationsOfShapes(shapes, at, folder, surroundings);
    const operations = found.filter((one) => typeof one !== 'string');
    const [refused] = found.filter((one) => typeof one === 'string');
    if (refused !== undefined) throw new UserError(`a shape cannot be measured: ${refused}`);
    const site = siteAt(at.site, store, surroundings);
    return {
      measured: { command: at.command, site, waitedSeconds: 0 },
      input: { reading: at.reading, operations },
    };
  });
}

/**
 * Times the program as the next build ships it.
 * @returns the time that it loses, in words; or why that is unknown
 */
async function lossOfInput(
  input: string,
  flags: readonly string[],
  store: Store,
  surroundings: Surroundings,
): Promise<string> {
  const asked = await inspectInput(input, flags, surroundings);
  const decided = await decideByRecords(asked, surroundings, { whyNot: () => because('no-record') });
  using signals = interrupts();
  const { times, whyNot } = await measureLoss(decided, true, store, surroundings, signals.finishEarly);
  const loss = lossOf(times.dispatches, times.wholeSeconds, times.rates);
  return [
    ...(loss === null ? [] : [lossText(loss, page)]),
    ...(whyNot === null ? [] : [`The program is not timed now: ${whyNot.reason}.`]),
  ].join('\n');
}

/** A measurement as JSON. The bound is of one execution. */
function plain(one: Measurement, rates: DeviceRates) {
  const { operation, workload, configuration, verification, seconds, ratio, low, high, place, message } = one;
  const names = { dispatch: dispatchName(one), operation: operation.name, kind: operation.kind };
  const gflops = gflopsOf(one);
  const bound = boundOf(workloadAmount(workload), rates);
  const boundSeconds = 'unknown' in bound ? null : bound.seconds;
  const isKnown = seconds !== null && boundSeconds !== null;
  const against = {
    boundSeconds,
    share: isKnown ? boundSeconds / seconds : null,
    lostSeconds: isKnown ? Math.max(0, seconds - boundSeconds) : null,
  };
  return {
    ...names,
    ...{ configuration, verification, seconds, gflops, ...against, ratio, low, high, message, ...place },
  };
}
