// `iree-tuned profile`: how fast an input's operations are, by default and at best, as the dispatch profiler reports it.
import type { Command as Program } from 'commander';
import { lookUp, workloadsOf } from '../decision/look-up.ts';
import { allOf, dispatchName, gflopsOf, type Measurement } from '../profile/measurement.ts';
import { operationOf, splitKSlices } from '../profile/operation.ts';
import { patternsOf } from '../profile/patterns.ts';
import { consoleBlock } from '../profile/report.ts';
import { atDevice, inspectInput, openDatabase, surroundingsOf, UsageError } from './context.ts';
import { keepCandidates, profiled, spaceSizes, tagsOf, writeCsv, writeRunLog } from './profiling.ts';
import { search, strategyNamed, trialsOf } from './search.ts';
import { restricted } from './search-space.ts';

export async function profileInput(
  input: string,
  flags: readonly string[],
  options: {
    budget?: string;
    strategy: string;
    trials: string;
    searchSpace?: string;
    again?: boolean;
    dispatches?: string;
    all?: boolean;
    output?: string;
    tags?: string;
    append?: boolean;
    keep?: string;
    json?: boolean;
  },
  program: Program,
): Promise<void> {
  const begun = new Date();
  const clock = () => performance.now() / 1000;
  const start = clock();
  const strategy = strategyNamed(options.strategy);
  const trials = trialsOf(options.trials);
  const tags = tagsOf(options.tags);
  const patterns = patternsOf(options.dispatches ?? 'all');
  const surroundings = surroundingsOf(
    program,
    options.budget === undefined ? {} : { budget: options.budget },
  );
  const read = await inspectInput(input, flags, surroundings);
  const store = await openDatabase(surroundings);
  const inspected = atDevice(read.inspected, store, surroundings);
  const { site } = inspected;
  if (site.whyNotHere !== null) throw new UsageError(`${input}: ${site.whyNotHere}`);
  const slices = splitKSlices(read.command.expanded);

  const works = workloadsOf(inspected.input, site, surroundings.settings).filter(({ workload }) =>
    patterns.mayBeWanted(operationOf(workload, slices).name),
  );
  const { misses, narrow } = lookUp(store, inspected.input, site, surroundings.settings);
  const isRestricted = options.searchSpace !== undefined;
  const open = new Set([...misses, ...(isRestricted ? [] : narrow)].map(({ key }) => key));
  const again = new Set(options.again === true ? works.map(({ key }) => key) : []);
  const wanted = restricted(
    works.filter(({ key }) => open.has(key) || again.has(key)),
    site,
    options.searchSpace,
  );
  const preparingSeconds = clock() - start;
  const { whyNot } = await search(wanted, store, { command: read.command, inspected }, surroundings, {
    strategy,
    effort: { maxTrials: trials },
    again,
  });
  const searchSeconds = clock() - start - preparingSeconds;
  const found = profiled(works, store, site, slices);
  store.close();

  // A name may be any candidate's; whoever names none is told of the default and the best.
  const isBrief = options.all !== true && options.dispatches === undefined;
  const shown = found
    .flatMap(({ measurements }) => allOf(isBrief ? { ...measurements, others: [] } : measurements))
    .filter((one) => patterns.isWanted(dispatchName(one)));
  if (options.json === true) console.log(JSON.stringify(shown.map(plain), null, 2));
  else for (const one of shown) console.log(consoleBlock(one));
  if (options.output !== undefined) {
    writeCsv(options.output, shown, tags, options.append === true);
    const spaces = spaceSizes(wanted, site);
    const valid = found.flatMap((one) => one.trials).filter(({ outcome }) => outcome === 'measured').length;
    writeRunLog(options.output, { begun, preparingSeconds, searchSeconds, spaceSizes: spaces, valid });
  }
  if (options.keep !== undefined) {
    const every = found.flatMap(({ measurements }) => allOf(measurements));
    keepCandidates(
      options.keep,
      every.filter((one) => patterns.isWanted(dispatchName(one))),
      site,
    );
  }
  for (const { operation, decided } of found) {
    if (decided !== null) continue;
    process.stderr.write(`iree-tuned: ${operation.name} is not decided: ${whyNot}\n`);
    process.exitCode = 1;
  }
}

/** What a block says, and more, as JSON. */
function plain(one: Measurement) {
  const { operation, configuration, verification, seconds, ratio, low, high, place, message } = one;
  const names = { dispatch: dispatchName(one), operation: operation.name, kind: operation.kind };
  const gflops = gflopsOf(one);
  return { ...names, configuration, verification, seconds, gflops, ratio, low, high, message, ...place };
}
