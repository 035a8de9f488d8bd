// `iree-tuned records` and `iree-tuned show`.
import type { Command as Program } from 'commander';
import { geometricMean } from '../measure/statistics.ts';
import { formatSeconds } from '../system/format.ts';
import { table } from '../report/table.ts';
import { printable, wrapped } from '../report/text.ts';
import { configurationKey } from '../backend/index.ts';
import { fits, type Filter } from '../store/filter.ts';
import type { Store, TuningRecord } from '../store/store.ts';
import { staticForms, workloadFlops } from '../workload/workload.ts';
import { UserError } from '../system/user-error.ts';
import { openToLook, surroundingsOf } from './context.ts';
import { contains, filterOf, inWords } from './filters.ts';
import { page, say } from './output.ts';

export async function listRecords(
  filter: string | undefined,
  options: { json?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program);
  const { store } = await openToLook(surroundings);
  const parts = filterOf(program);
  const records = store.allRecords().filter((record) => fits(record, parts) && contains(record, filter));
  store.close();
  if (options.json === true) {
    console.log(JSON.stringify(records, null, 2));
    return;
  }
  if (records.length === 0) {
    say(`No records${inWords(parts, filter)} in ${surroundings.settings.database}.`);
    return;
  }
  console.log(
    table(
      ['workload', 'gain', 'default', 'tuned', 'configuration', 'device'],
      records.map((record) => [
        record.workload.replace(/^contraction /, ''),
        record.failure === null ? `${record.evidence.ratio.toFixed(2)}x` : 'failed',
        formatSeconds(record.evidence.defaultSeconds),
        formatSeconds(record.evidence.seconds),
        configurationKey(record.configuration),
        record.device,
      ]),
      page,
    ),
  );
}

export async function showRecord(
  workload: string,
  options: { json?: boolean; all?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program);
  const { store } = await openToLook(surroundings);
  const parts = filterOf(program);
  const found = recordsOf(store, workload, parts);
  const [record] = found;
  const trials = store.trials(record);
  const form = store.subject(record)?.workloadForm;
  // Times of dynamic dimensions are geometric means over the sizes, so rates are of the mean work.
  const flops = form === undefined ? null : geometricMean(staticForms(form).map(workloadFlops));
  store.close();
  if (options.json === true) {
    console.log(JSON.stringify({ records: found, trials }, null, 2));
    return;
  }
  for (const one of found) console.log(describeRecord(one, flops));
  const measured = trials.filter(({ seconds }) => seconds !== null).sort((a, b) => a.seconds! - b.seconds!);
  const shown = options.all === true ? measured : measured.slice(0, 10);
  console.log(
    `\n${trials.length} trials, ${measured.length} measured${shown.length < measured.length ? ', the best:' : ':'}`,
  );
  console.log(
    table(
      ['time', 'gain', 'configuration'],
      shown.map((trial) => [
        formatSeconds(trial.seconds!),
        trial.ratio === null ? '-' : `${trial.ratio.toFixed(2)}x`,
        configurationKey(trial.configuration),
      ]),
      page,
    ),
  );
  const failed = trials.filter(({ outcome }) => outcome !== 'measured');
  if (failed.length > 0 && options.all === true)
    console.log(
      `\n${table(
        ['outcome', 'configuration', 'message'],
        failed.map((trial) => [trial.outcome, configurationKey(trial.configuration), trial.message ?? '']),
        page,
      )}`,
    );
}

/**
 * The records of the one workload that a user means, newest first: by its key, or a part of it.
 * @throws UserError where there is none, or more than one workload
 */
export function recordsOf(
  store: Store,
  workload: string,
  parts: Filter,
): readonly [TuningRecord, ...TuningRecord[]] {
  const records = store.allRecords().filter((record) => fits(record, parts));
  const exact = records.filter((record) => record.workload === workload);
  const found = exact.length > 0 ? exact : records.filter((record) => record.workload.includes(workload));
  const [first, ...more] = found;
  if (first === undefined) throw new UserError(`no record for "${workload}"; iree-tuned records lists them`);
  if (new Set(found.map((one) => one.workload)).size > 1)
    throw new UserError(
      `"${workload}" fits ${found.length} records; give more of the key:\n` +
        found.map((one) => `  ${one.workload}`).join('\n'),
    );
  return [first, ...more];
}

function describeRecord(record: TuningRecord, flops: number | null): string {
  const { evidence } = record;
  const rate = (seconds: number) => (flops === null ? '' : `, ${(flops / seconds / 1e9).toFixed(1)} GFLOP/s`);
  return [
    record.workload,
    `  target         ${record.target}`,
    `  device         ${record.device}`,
    `  compiler       ${record.compiler}`,
    `  configuration  ${configurationKey(record.configuration)}`,
    `  default        ${formatSeconds(evidence.defaultSeconds)}${rate(evidence.defaultSeconds)}`,
    `  tuned          ${formatSeconds(evidence.seconds)}${rate(evidence.seconds)}`,
    `  gain           ${evidence.ratio.toFixed(3)}x (99%: ${evidence.low.toFixed(3)} to ${evidence.high.toFixed(3)}), ` +
      `noise floor ${(evidence.noiseFloor * 100).toFixed(1)}%`,
    `  measured       ${evidence.repetitions} repetitions in ${evidence.processes} processes, largest error ${evidence.maxError}`,
    `  search         ${evidence.trials} trials in ${evidence.tuningSeconds.toFixed(1)} s of ${evidence.families.join(' and ') || 'what a user allowed'}${evidence.complete ? '' : ', not complete'}`,
    `  written        ${record.createdAt} by ${record.createdBy} on ${record.machine}, with ${record.tool}`,
    `  digest         ${record.digest}`,
    ...(record.failure === null ? [] : [`  failed         ${record.failure}`]),
  ]
    .map((line) => wrapped(printable(line), page.columns, ' '.repeat(17)))
    .join('\n');
}
