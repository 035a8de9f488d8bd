// `iree-tuned db regressions`
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeCompiler } from '../../compiler/describe.ts';
import { lineDisplay } from '../../report/progress.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { fits } from '../../store/filter.ts';
import type { Store, TuningRecord } from '../../store/store.ts';
import { placeOf } from '../../store/subject.ts';
import { because, isReason } from '../../system/reason.ts';
import { formatRatio, formatSeconds, shortKey } from '../../system/format.ts';
import { measuringAlone, toolchainOf } from '../../tuning/here.ts';
import {
  byLoss,
  isRegression,
  measuredChange,
  recordedChanges,
  type DefaultChange,
} from '../../tuning/regressions.ts';
import { isSelfContained, type OperationWork } from '../../workload/workload.ts';
import { siteOf } from '../../populate/site.ts';
import { CliCommand } from '../command.ts';
import { openToRead } from '../database.ts';
import { UsageError } from '../failure.ts';
import { measuringToolsAt, withTarget } from '../input.ts';
import { withInterrupts } from '../interrupt.ts';
import { warn } from '../output.ts';

interface Options {
  readonly measure?: boolean;
  readonly json?: boolean;
}

export const regressions = new CliCommand(
  'regressions',
  'list the workloads whose default became slower between two compilers, the greatest loss first',
)
  .argument('<old>', 'a compiler: its path, or a part of its key that no other compiler with records has')
  .argument('<new>', 'another compiler')
  .withFlags('<old> <new>')
  .filters('workload')
  .option('--measure', 'compile and time both defaults now, for the workloads of the database')
  .budget('with --measure: time for all workloads')
  .json()
  .examples(
    ['iree-tuned db regressions 3.12 3.13', 'by the records of one device'],
    ['iree-tuned db regressions old/iree-compile new/iree-compile --measure', 'timed now, in turns'],
  )
  .action(findRegressions);

/** Ends with 1 where a default became slower. */
async function findRegressions(
  older: string,
  newer: string,
  options: Options,
  command: CliCommand,
): Promise<void> {
  const surroundings = command.surroundings();
  const store = await openToRead(surroundings);
  const records = store.allRecords().filter((record) => fits(record, command.filter));
  const keyOf = (name: string) => compilerNamed(name, records, surroundings.cacheDirectory);
  const [from, to] = [await keyOf(older), await keyOf(newer)];
  const measuring =
    options.measure === true
      ? await measured(older, newer, command.flags, records, store, surroundings)
      : null;
  store.close();
  const found = (measuring?.changes ?? recordedChanges(records, from, to)).toSorted(byLoss);
  const isWorse = found.map(isRegression);
  const failed = measuring?.failed ?? [];
  const changes = found.map((one, i) => ({ ...one, isRegression: isWorse[i]! }));
  command.printTable(
    { older: from, newer: to, changes, failed },
    ['workload', from, to, 'ratio', 'interval', ''],
    changes.map((one) => [
      shortKey(one.workload),
      ...[formatSeconds(one.oldSeconds), formatSeconds(one.newSeconds), formatRatio(one.ratio)],
      `${one.low.toFixed(2)} to ${one.high.toFixed(2)}`,
      one.isRegression ? 'slower' : '',
    ]),
    `No device has records of both ${from} and ${to}. --measure compares the two compilers on this machine.`,
  );
  for (const one of failed) warn(one);
  if (isWorse.includes(true)) process.exitCode = 1;
}

/**
 * The key of a compiler, by its path or by a part of the key of one compiler with records.
 * @throws UsageError
 */
async function compilerNamed(name: string, records: readonly TuningRecord[], cache: string): Promise<string> {
  if (existsSync(name)) return (await describeCompiler(name, cache)).key;
  const keys = [...new Set(records.map(({ compiler }) => compiler))].filter((key) => key.includes(name));
  if (keys.length === 1) return keys[0]!;
  throw new UsageError(
    keys.length === 0
      ? `${name} is neither a file nor part of the key of a compiler with records`
      : `${name} matches several compilers: ${keys.join(', ')}`,
  );
}

/** Times both defaults, for the workloads of this machine that need no program. */
async function measured(
  older: string,
  newer: string,
  flags: readonly string[],
  records: readonly TuningRecord[],
  store: Store,
  surroundings: Surroundings,
): Promise<{ changes: DefaultChange[]; failed: string[] }> {
  const { settings, cacheDirectory } = surroundings;
  const [first, second] = await Promise.all(
    [older, newer].map(async (compiler) => {
      if (!existsSync(compiler))
        throw new UsageError(`--measure needs the paths of two compilers: ${compiler} does not exist`);
      const own = { ...surroundings, settings: { ...settings, compiler } };
      const at = await siteOf(withTarget(flags), own);
      return { site: at.site, tools: measuringToolsAt(at, own) };
    }),
  );
  const { target, device } = placeOf(second!.site);
  const works = new Map<string, OperationWork>();
  for (const record of records.filter((one) => one.target === target && one.device === device)) {
    const form = store.subject(record)?.workloadForm;
    if (form !== undefined && isSelfContained(form)) works.set(record.workload, form);
  }
  const display = lineDisplay();
  const end = performance.now() + 1000 * settings.budgetSeconds;
  const changes: DefaultChange[] = [];
  const failed: string[] = [];
  const measuring = { ...surroundings, device: second!.site.device };
  const measureAll = async (folder: string, signal: AbortSignal) => {
    for (const [i, [workload, form]] of [...works].entries()) {
      const secondsLeft = (end - performance.now()) / 1000;
      if (secondsLeft < 1)
        return because(
          'budget-spent',
          `the budget is spent: ${works.size - i} of ${works.size} workloads were not compared`,
        );
      display.show(`iree-tuned: ${i + 1} of ${works.size}, ${workload}`);
      const toolchain = ({ site, tools }: NonNullable<typeof first>, name: string) =>
        toolchainOf(site, tools, join(folder, `${i}-${name}`), cacheDirectory, signal);
      const toolchains = { older: toolchain(first!, 'old'), newer: toolchain(second!, 'new') };
      const share = secondsLeft / (works.size - i);
      const change = await measuredChange({ workload, target, device }, form, toolchains, share);
      if (isReason(change)) failed.push(`${workload}: ${change.reason}`);
      else changes.push(change);
    }
    return null;
  };
  const why = await withInterrupts(({ finishEarly: signal }) =>
    measuringAlone(measuring, settings.budgetSeconds, signal, (folder) => measureAll(folder, signal)),
  ).finally(display.clear);
  return { changes, failed: why === null ? failed : [...failed, why.reason] };
}
