// `iree-tuned profile`: how fast operations are, by default and at best, as the dispatch profiler reports it.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command as Program } from 'commander';
import { isTunable } from '../input/operation.ts';
import { lookUp, workloadsOf } from '../decision/look-up.ts';
import { shapeModule } from '../populate/shape-module.ts';
import type { Shape } from '../populate/shape.ts';
import { shapesOfSweep, type SweepText } from '../populate/sweep.ts';
import { allOf, dispatchName, gflopsOf, type Measurement } from '../profile/measurement.ts';
import { operationsOf, splitKSlices } from '../profile/operation.ts';
import { patternsOf } from '../profile/patterns.ts';
import { consoleBlock } from '../profile/report.ts';
import { STRATEGIES } from '../search/index.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Store } from '../store/store.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { alone } from '../populate/executor.ts';
import { UserError } from '../system/user-error.ts';
import { atDevice, inspectInput, openDatabase, surroundingsOf, UsageError } from './context.ts';
import {
  keepCandidates,
  profiled,
  spaceSizes,
  tagsOf,
  timedCandidates,
  writeCsv,
  writeRunLog,
} from './profiling.ts';
import { warn } from './output.ts';
import { search, trialCount, type Measured } from './search.ts';
import { restricted } from './search-space.ts';

interface Options extends SweepText {
  readonly budget?: string;
  readonly strategy: string;
  readonly trials: string;
  readonly searchSpace?: string;
  readonly again?: boolean;
  readonly dispatches?: string;
  readonly all?: boolean;
  readonly output?: string;
  readonly tags?: string;
  readonly append?: boolean;
  readonly keep?: string;
  readonly json?: boolean;
}

export async function profileInput(
  given: readonly string[],
  options: Options,
  program: Program,
): Promise<void> {
  const begun = new Date();
  const clock = () => performance.now() / 1000;
  const start = clock();
  // What follows `--` are flags; the parser makes one list of both.
  const behind = process.argv.indexOf('--');
  const flags = behind < 0 ? [] : process.argv.slice(behind + 1);
  const inputs = given.slice(0, given.length - flags.length);
  const strategy = STRATEGIES[options.strategy]!;
  const trials = trialCount(options.trials);
  const tags = tagsOf(options.tags);
  const patterns = patternsOf(options.dispatches ?? 'all');
  const { budget } = options;
  const surroundings = surroundingsOf(program, budget === undefined ? {} : { budget });
  const store = await openDatabase(surroundings);
  const {
    measured,
    works: all,
    open,
  } = await withInputs(inputs, options, surroundings, (sources) =>
    readInputs(sources, flags, store, surroundings),
  );
  const { site } = measured;
  const slices = splitKSlices(measured.command.expanded);
  const names = operationsOf(
    all.map(({ workload }) => workload),
    slices,
  );
  const works = all.filter((_, i) => patterns.mayBeWanted(names[i]!.name));

  const again = new Set(options.again === true ? works.map(({ key }) => key) : []);
  // Where only some values are allowed, what was found among others is no reason to search.
  const isOpen = options.searchSpace === undefined ? open.all : open.missing;
  const wanted = restricted(
    works.filter(({ key }) => isOpen.has(key) || again.has(key)),
    site,
    options.searchSpace,
  );
  const preparingSeconds = clock() - start;
  const { whyNot } = await search(wanted, store, measured, surroundings, {
    strategy,
    effort: { maxTrials: trials },
    again,
  });
  const searchSeconds = clock() - start - preparingSeconds;
  const found = profiled(all, store, site, slices).filter(({ key }) => works.some((one) => one.key === key));
  store.close();

  const every = found
    .flatMap(({ measurements }) => allOf(measurements))
    .filter((one) => patterns.isWanted(dispatchName(one)));
  // A name may be any candidate's; whoever names none is told of the default and the best.
  const isBrief = options.all !== true && options.dispatches === undefined;
  const shown = isBrief ? found.flatMap(({ measurements }) => allOf({ ...measurements, others: [] })) : every;
  if (options.json === true) console.log(JSON.stringify(shown.map(plain), null, 2));
  else for (const one of shown) console.log(consoleBlock(one));
  if (options.output !== undefined) {
    writeCsv(options.output, shown, tags, options.append === true);
    const summary = { begun, preparingSeconds, searchSeconds, spaceSizes: spaceSizes(wanted, site) };
    writeRunLog(options.output, { ...summary, valid: timedCandidates(every) });
  }
  if (options.keep !== undefined) await keepCandidates(options.keep, every, site, surroundings);
  for (const { operation, decided } of found) {
    if (decided !== null) continue;
    warn(`${operation.name} is not decided: ${whyNot.reason}`);
    process.exitCode = 1;
  }
}

/** What there is to do with inputs of one target. */
interface Asked {
  readonly measured: Measured;
  /** Of all inputs, each once. */
  readonly works: readonly Work[];
  /** Keys of those without a record, and beside them of those whose search could not choose from everything. */
  readonly open: { readonly missing: ReadonlySet<string>; readonly all: ReadonlySet<string> };
}

/** A program, and the shape that it was written for. */
interface Source {
  readonly path: string;
  readonly shape: Shape | null;
}

/** Reads the one input, or writes a program for each shape of a sweep, for as long as they are read. */
async function withInputs(
  inputs: readonly string[],
  options: Options,
  { cacheDirectory }: Surroundings,
  read: (sources: readonly Source[]) => Promise<Asked>,
): Promise<Asked> {
  const isSweep = ['op', 'm', 'n', 'k', 'batch', 'dtype', 'rhsConstant'].some((name) => name in options);
  if (inputs.length > 1 || (inputs.length === 1) === isSweep)
    throw new UsageError('give one input, or a sweep: --m 64:1024:64 --n 512 --k 512');
  if (!isSweep) return read(inputs.map((path) => ({ path, shape: null })));
  const shapes = shapesOfSweep({ rhsConstant: 'no', ...options }, (option) =>
    option === 'rhsConstant' ? '--rhs-constant' : `--${option}`,
  );
  const folder = makeScratchFolder(cacheDirectory, 'profile');
  if (folder === null) throw new UserError(`nothing can be written to the cache folder ${cacheDirectory}`);
  try {
    const sources = shapes.map((shape, i): Source => {
      const path = join(folder, `shape-${i}.mlir`);
      writeFileSync(path, shapeModule([shape]));
      return { path, shape };
    });
    return await read(sources);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readInputs(
  sources: readonly Source[],
  flags: readonly string[],
  store: Store,
  surroundings: Surroundings,
): Promise<Asked> {
  const works = new Map<string, Work>();
  const [missing, all] = [new Set<string>(), new Set<string>()];
  let measured: Measured | null = null;
  for (const { path, shape } of sources) {
    const read = await inspectInput(path, flags, surroundings);
    const inspected = atDevice(read.inspected, store, surroundings);
    const { site } = inspected;
    if (site.whyNotHere !== null) throw new UserError(`${path}: ${site.whyNotHere.reason}`);
    // A shape is measured as populate measures it, whatever is beside it.
    const input =
      shape === null
        ? inspected.input
        : {
            ...inspected.input,
            operations: inspected.input.operations.map((one) => (isTunable(one) ? alone(one, shape) : one)),
          };
    const { misses, narrow } = lookUp(store, input, site, surroundings.settings);
    for (const { key } of misses) missing.add(key);
    for (const { key } of [...misses, ...narrow]) all.add(key);
    for (const work of workloadsOf(input, site, surroundings.settings))
      if (!works.has(work.key)) works.set(work.key, work);
    const waitedSeconds: number = input.waitedSeconds + (measured?.waitedSeconds ?? 0);
    measured = { command: read.command, site, waitedSeconds };
  }
  return { measured: measured!, works: [...works.values()], open: { missing, all } };
}

/** What a block says, and more, as JSON. */
function plain(one: Measurement) {
  const { operation, configuration, verification, seconds, ratio, low, high, place, message } = one;
  const names = { dispatch: dispatchName(one), operation: operation.name, kind: operation.kind };
  const gflops = gflopsOf(one);
  return { ...names, configuration, verification, seconds, gflops, ratio, low, high, message, ...place };
}
