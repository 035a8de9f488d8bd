// `iree-tuned regressions`: where a compiler's own default became slower.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command as Program } from 'commander';
import { findMeasuringTools } from '../compiler/find.ts';
import { describeCompiler } from '../compiler/describe.ts';
import { lineDisplay } from '../report/progress.ts';
import { table } from '../report/table.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { fits } from '../store/filter.ts';
import type { Store, TuningRecord } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { formatSeconds } from '../system/format.ts';
import { UserError } from '../system/user-error.ts';
import { measuringAlone, toolchainOf } from '../tuning/here.ts';
import {
  byLoss,
  isRegression,
  measuredChange,
  recordedChanges,
  type DefaultChange,
} from '../tuning/regressions.ts';
import { isOperationWork, type OperationWork } from '../workload/workload.ts';
import { openToLook, siteOf, surroundingsOf, UsageError, withTarget } from './context.ts';
import { page, say, warn } from './output.ts';

interface Options {
  readonly measure?: boolean;
  readonly workload?: string;
  readonly budget?: string;
  readonly json?: boolean;
}

export async function findRegressions(
  older: string,
  newer: string,
  flags: readonly string[],
  options: Options,
  program: Program,
): Promise<void> {
  const { budget, workload } = options;
  const surroundings = surroundingsOf(program, budget === undefined ? {} : { budget });
  const { store } = await openToLook(surroundings);
  const filter = workload === undefined ? {} : { workload };
  const records = store.allRecords().filter((record) => fits(record, filter));
  const compilers = await Promise.all(
    [older, newer].map((name) => compilerNamed(name, records, surroundings.cacheDirectory)),
  );
  const [from, to] = [compilers[0]!, compilers[1]!];
  const measuring =
    options.measure === true ? await measured(older, newer, flags, records, store, surroundings) : null;
  store.close();
  const found = (measuring?.changes ?? recordedChanges(records, from, to)).toSorted(byLoss);
  const isWorse = found.map(isRegression);
  if (options.json === true) {
    const changes = found.map((one, i) => ({ ...one, isRegression: isWorse[i]! }));
    console.log(
      JSON.stringify({ older: from, newer: to, changes, failed: measuring?.failed ?? [] }, null, 2),
    );
  } else if (found.length === 0) {
    say(
      `Nothing is known of both ${from} and ${to} on one device. --measure compares the two compilers here.`,
    );
  } else
    console.log(
      table(
        ['workload', from, to, 'ratio', 'interval', ''],
        found.map((one, i) => [
          one.workload.replace(/^contraction /, ''),
          ...[formatSeconds(one.oldSeconds), formatSeconds(one.newSeconds), `${one.ratio.toFixed(2)}x`],
          `${one.low.toFixed(2)} to ${one.high.toFixed(2)}`,
          isWorse[i] === true ? 'slower' : '',
        ]),
        page,
      ),
    );
  for (const one of measuring?.failed ?? []) warn(one);
  if (isWorse.includes(true)) process.exitCode = 1;
}

/**
 * The key of a compiler: of a path, or of the one compiler with records whose key contains a text.
 * @throws UsageError
 */
async function compilerNamed(name: string, records: readonly TuningRecord[], cache: string): Promise<string> {
  if (existsSync(name)) return (await describeCompiler(name, cache)).key;
  const keys = [...new Set(records.map(({ compiler }) => compiler))].filter((key) => key.includes(name));
  if (keys.length === 1) return keys[0]!;
  throw new UsageError(
    keys.length === 0
      ? `${name}: there is no such file, and no records of such a compiler`
      : `${name} fits several compilers: ${keys.join(', ')}`,
  );
}

/** Both defaults timed now, for all workloads of the database that are for this machine and need no program. */
async function measured(
  older: string,
  newer: string,
  flags: readonly string[],
  records: readonly TuningRecord[],
  store: Store,
  surroundings: Surroundings,
): Promise<{ changes: DefaultChange[]; failed: string[] }> {
  const { env, settings, root, cacheDirectory } = surroundings;
  const [first, second] = await Promise.all(
    [older, newer].map(async (compiler) => {
      if (!existsSync(compiler))
        throw new UsageError(`--measure takes paths of two compilers: ${compiler} is none`);
      const own = { ...surroundings, settings: { ...settings, compiler } };
      const { command, site } = await siteOf(withTarget(flags), own);
      if (site.whyNotHere !== null)
        throw new UserError(`nothing can be measured here: ${site.whyNotHere.reason}`);
      const tools = findMeasuringTools(command.compiler, env, { root, cacheDirectory });
      if (tools === null)
        throw new UserError(
          `iree-benchmark-module and iree-run-module of ${compiler} are not found (pip install iree-base-runtime)`,
        );
      return { site, tools };
    }),
  );
  const { target, device } = placeOf(second!.site);
  const works = new Map<string, OperationWork>();
  for (const record of records.filter((one) => one.target === target && one.device === device)) {
    const form = store.subject(record)?.workloadForm;
    if (form !== undefined && isOperationWork(form) && form.context === undefined)
      works.set(record.workload, form);
  }
  const stop = new AbortController();
  const interrupt = () => {
    stop.abort();
  };
  process.on('SIGINT', interrupt);
  const display = lineDisplay();
  const end = performance.now() + 1000 * settings.budgetSeconds;
  const changes: DefaultChange[] = [];
  const failed: string[] = [];
  const whyNot = await measuringAlone(surroundings, settings.budgetSeconds, stop.signal, async (folder) => {
    for (const [i, [workload, form]] of [...works].entries()) {
      const secondsLeft = (end - performance.now()) / 1000;
      if (secondsLeft < 1)
        return `the time is over: ${works.size - i} of ${works.size} workloads were not compared`;
      display.show(`iree-tuned: ${i + 1} of ${works.size}, ${workload}`);
      const toolchains = {
        older: toolchainOf(first!.site, first!.tools, join(folder, `${i}-old`), cacheDirectory, stop.signal),
        newer: toolchainOf(
          second!.site,
          second!.tools,
          join(folder, `${i}-new`),
          cacheDirectory,
          stop.signal,
        ),
      };
      const share = secondsLeft / (works.size - i);
      const change = await measuredChange({ workload, target, device }, form, toolchains, share);
      if (typeof change === 'string') failed.push(`${workload}: ${change}`);
      else changes.push(change);
    }
    return null;
  }).finally(() => {
    display.clear();
    process.off('SIGINT', interrupt);
  });
  return { changes, failed: whyNot === null ? failed : [...failed, whyNot] };
}
