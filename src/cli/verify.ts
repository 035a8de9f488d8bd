// `iree-tuned verify`: whether the records of this machine still hold.
import type { Command as Program } from 'commander';
import { findMeasuringTools } from '../compiler/find.ts';
import { lineDisplay } from '../report/progress.ts';
import { table } from '../report/table.ts';
import { fits } from '../store/filter.ts';
import { UserError } from '../system/user-error.ts';
import { verifiable, verifyRecords, type Verified } from '../tuning/verify-records.ts';
import { openDatabase, requireDatabase, siteOf, surroundingsOf, UsageError, withTarget } from './context.ts';
import { inWords } from './filters.ts';
import { page, say, warn } from './output.ts';

export async function verify(
  flags: readonly string[],
  options: { workload?: string; budget?: string; json?: boolean },
  program: Program,
): Promise<void> {
  const { budget, workload } = options;
  const surroundings = surroundingsOf(program, budget === undefined ? {} : { budget });
  const { env, settings, root, cacheDirectory } = surroundings;
  if (settings.readonly) throw new UsageError('verify writes what it measures: unset IREE_TUNED_READONLY');
  requireDatabase(surroundings);
  const { command, site } = await siteOf(withTarget(flags), surroundings);
  if (site.whyNotHere !== null)
    throw new UserError(`nothing can be measured here: ${site.whyNotHere.reason}`);
  const tools = findMeasuringTools(command.compiler, env, { root, cacheDirectory });
  if (tools === null)
    throw new UserError(
      'iree-benchmark-module and iree-run-module are not found (pip install iree-base-runtime)',
    );
  const store = await openDatabase(surroundings);
  const filter = workload === undefined ? {} : { workload };
  const asked = store.allRecords().filter((record) => fits(record, filter));
  const records = verifiable(asked, store, site);
  const found: Verified[] = [];
  const stop = new AbortController();
  const interrupt = () => {
    stop.abort();
  };
  process.on('SIGINT', interrupt);
  const display = lineDisplay();
  const show = () => {
    const next = records[found.length];
    if (next !== undefined)
      display.show(`iree-tuned: ${found.length + 1} of ${records.length}, ${next.workload}`);
  };
  show();
  const measuring = { budgetSeconds: settings.budgetSeconds, signal: stop.signal };
  const whyNot = await verifyRecords(records, store, site, tools, surroundings, measuring, (one) => {
    found.push(one);
    show();
  }).finally(() => {
    display.clear();
    process.off('SIGINT', interrupt);
    store.close();
  });
  const { device, compiler } = records[0] ?? { device: site.deviceKey, compiler: site.compiler.key };
  const notHere = asked.length - records.length;
  if (options.json === true)
    console.log(JSON.stringify({ device, compiler, records: found.map(rowOf), whyNot, notHere }, null, 2));
  else {
    if (records.length === 0)
      say(`No gains${inWords(filter)} were recorded for this target with this device and compiler.`);
    else
      console.log(
        table(['workload', 'recorded', 'now', '99% interval', 'verdict'], found.map(cellsOf), page),
      );
    say(`Measured on ${device} with ${compiler}.`);
    if (notHere > 0)
      say(
        `${notHere} more are of other targets, devices or compilers, say that the default is best, or are only measured in their program.`,
      );
    if (whyNot !== null) warn(whyNot);
  }
  if (found.some(({ again }) => LOST.includes(again.drift))) process.exitCode = 1;
}

const LOST: readonly Verified['again']['drift'][] = ['lost', 'failed'];

const rowOf = ({ record, again }: Verified) => {
  const { workload, target, device, compiler, configuration, evidence } = record;
  const recorded = { ratio: evidence.ratio, low: evidence.low, high: evidence.high };
  const { drift: verdict, now, reason } = again;
  return { workload, target, device, compiler, configuration, recorded, now, verdict, reason };
};

function cellsOf({ record, again }: Verified): string[] {
  const { now, drift, reason } = again;
  return [
    record.workload.replace(/^contraction /, ''),
    `${record.evidence.ratio.toFixed(2)}x`,
    now === null ? '-' : `${now.ratio.toFixed(2)}x`,
    now === null ? '-' : `${now.low.toFixed(2)} to ${now.high.toFixed(2)}`,
    reason === null ? drift : `${drift}: ${reason}`,
  ];
}
