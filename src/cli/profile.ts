// `iree-tuned profile`
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTunable } from '../input/operation.ts';
import { lookUp, workloadsOf } from '../decision/look-up.ts';
import { shapeModule } from '../populate/shape-module.ts';
import type { Shape } from '../populate/shape.ts';
import { isSwept, type SweepText } from '../populate/ranges.ts';
import { shapesOfSweep } from '../populate/sweep.ts';
import { keepCandidates } from '../compat/candidate-files.ts';
import { allOf, dispatchName, gflopsOf, timedCandidates, type Measurement } from '../compat/measurement.ts';
import { operationsOf, splitKSlices } from '../compat/operation.ts';
import { patternsOf } from '../compat/patterns.ts';
import { profiled, spaceSizes } from '../compat/profiled.ts';
import { consoleBlock, type Tags } from '../compat/report.ts';
import { writeReport } from '../compat/report-files.ts';
import { boundOf, lossOf, type DeviceRates } from '../report/loss.ts';
import { lossText } from '../report/loss-text.ts';
import { knownRates, ratesPlaceOf } from '../running/known-rates.ts';
import { measureLoss } from '../running/measure-loss.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Store } from '../store/store.ts';
import { withScratchFolder } from '../system/scratch.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { alone } from '../populate/executor.ts';
import { because } from '../system/reason.ts';
import { UserError } from '../system/user-error.ts';
import { workloadAmount } from '../workload/workload.ts';
import { CliCommand, type SearchOptions } from './command.ts';
import { atDevice, inspectInput, openDatabase, surroundingsOf, UsageError } from './context.ts';
import { decideByRecords } from './by-records.ts';
import { withInterrupts } from './interrupt.ts';
import { page, warn } from './output.ts';
import { search, type Measured } from './search.ts';
import { readSpaceFile, restricted } from './search-space.ts';

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
  const surroundings = surroundingsOf(command);
  const store = await openDatabase(surroundings);
  // A restricted search tunes only the workloads without a record.
  const isRestricted = options.searchSpace !== undefined;
  const asked = await withInputs(input, options, surroundings, (sources) =>
    readInputs(sources, command.flags, isRestricted, store, surroundings),
  );
  const { measured, works: all, open } = asked;
  const { site } = measured;
  const slices = splitKSlices(measured.command.expanded);
  const names = operationsOf(all, slices);
  const works = all.filter((_, i) => patterns.mayBeWanted(names[i]!.name));

  const again = new Set(options.again === true ? works.map(({ key }) => key) : []);
  const wanted = restricted(
    works.filter(({ key }) => open.has(key) || again.has(key)),
    site,
    readSpaceFile(options.searchSpace),
  );
  const prepared = new Date();
  const { whyNot } = await search(wanted, store, measured, surroundings, options, again);
  const ended = new Date();
  const lost = input === undefined ? null : await lossOfInput(input, command.flags, store, surroundings);
  const rates = knownRates(ratesPlaceOf(site), store);
  const found = profiled(all, store, site, slices).filter(({ key }) => works.some((one) => one.key === key));
  store.close();

  const every = found
    .flatMap(({ measurements }) => allOf(measurements))
    .filter((one) => patterns.isWanted(dispatchName(one)));
  // A pattern may match any candidate.
  const isBrief = options.all !== true && options.dispatches === undefined;
  const shown = isBrief ? found.flatMap(({ measurements }) => allOf({ ...measurements, others: [] })) : every;
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

/** The work of all inputs at one target. */
interface Asked {
  readonly measured: Measured;
  readonly works: readonly Work[];
  /** Keys of workloads without a record, and of those whose search had a smaller space unless the search is restricted. */
  readonly open: ReadonlySet<string>;
}

/** A program; `shape` is null for a program of the user. */
interface Source {
  readonly path: string;
  readonly shape: Shape | null;
}

/** Reads the input, or temporary programs of a sweep. */
async function withInputs(
  input: string | undefined,
  options: Options,
  { cacheDirectory }: Surroundings,
  read: (sources: readonly Source[]) => Promise<Asked>,
): Promise<Asked> {
  if ((input !== undefined) === isSwept(options))
    throw new UsageError('profile needs one input, or a sweep such as --m 64:1024:64 --n 512 --k 512');
  if (input !== undefined) return read([{ path: input, shape: null }]);
  const shapes = shapesOfSweep({ rhsConstant: 'no', ...options });
  return withScratchFolder(cacheDirectory, 'profile', (folder) =>
    read(
      shapes.map((shape, i): Source => {
        const path = join(folder, `shape-${i}.mlir`);
        writeFileSync(path, shapeModule([shape]));
        return { path, shape };
      }),
    ),
  );
}

async function readInputs(
  sources: readonly Source[],
  flags: readonly string[],
  isRestricted: boolean,
  store: Store,
  surroundings: Surroundings,
): Promise<Asked> {
  const works = new Map<string, Work>();
  const open = new Set<string>();
  let measured: Measured | null = null;
  for (const { path, shape } of sources) {
    const read = await inspectInput(path, flags, surroundings);
    const inspected = atDevice(read.inspected, store, surroundings);
    const { site } = inspected;
    if (site.whyNotHere !== null) throw new UserError(`${path}: ${site.whyNotHere.reason}`);
    // A shape is measured alone, as `iree-tuned tune` measures it.
    const input =
      shape === null
        ? inspected.input
        : {
            ...inspected.input,
            operations: inspected.input.operations.map((one) => (isTunable(one) ? alone(one, shape) : one)),
          };
    const { misses, narrow } = lookUp(store, input, site, surroundings.settings);
    for (const { key } of isRestricted ? misses : [...misses, ...narrow]) open.add(key);
    for (const work of workloadsOf(input, site, surroundings.settings))
      if (!works.has(work.key)) works.set(work.key, work);
    const waitedSeconds: number = input.waitedSeconds + (measured?.waitedSeconds ?? 0);
    measured = { command: read.command, site, waitedSeconds };
  }
  return { measured: measured!, works: [...works.values()], open };
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
  const { times, whyNot } = await withInterrupts(({ finishEarly }) =>
    measureLoss(decided, true, store, surroundings, finishEarly),
  );
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
