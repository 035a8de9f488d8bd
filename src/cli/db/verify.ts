// `iree-tuned db verify`
import { lineDisplay } from '../../report/progress.ts';
import { table } from '../../report/table.ts';
import { fits } from '../../store/filter.ts';
import { formatRatio, shortKey } from '../../system/format.ts';
import { verifiable, verifyRecords, type Verified } from '../../tuning/measure-again.ts';
import { siteOf } from '../../populate/site.ts';
import { CliCommand } from '../command.ts';
import { openDatabase, requireDatabase } from '../database.ts';
import { UsageError } from '../failure.ts';
import { measuringToolsAt, withTarget } from '../input.ts';
import { interrupts } from '../interrupt.ts';
import { page, sentences, warn } from '../output.ts';
import { filterText } from './records.ts';

export const verify = new CliCommand(
  'verify',
  'measure the gains of this machine again, show the drift, and replace lost records',
)
  .withFlags('')
  .filters('workload')
  .budget('time for all records')
  .json()
  .examples(
    ['iree-tuned db verify --budget 2m', 'the oldest records first'],
    ['iree-tuned db verify --workload m=512 --json', 'records of some workloads, for scripts'],
  )
  .action((_, command: CliCommand) => run(command));

/** Ends with 1 where a gain is lost. */
async function run(command: CliCommand): Promise<void> {
  const surroundings = command.surroundings();
  const { settings } = surroundings;
  if (settings.readonly)
    throw new UsageError('db verify writes the database, and IREE_TUNED_READONLY is set: unset it');
  requireDatabase(surroundings);
  const at = await siteOf(withTarget(command.flags), surroundings);
  const { site } = at;
  const tools = measuringToolsAt(at, surroundings);
  using store = await openDatabase(surroundings);
  const { filter } = command;
  const asked = store.allRecords().filter((record) => fits(record, filter));
  const records = verifiable(asked, store, site);
  const found: Verified[] = [];
  const display = lineDisplay();
  const show = () => {
    const next = records[found.length];
    if (next !== undefined)
      display.show(`iree-tuned: ${found.length + 1} of ${records.length}, ${next.workload}`);
  };
  show();
  const { budgetSeconds } = settings;
  using signals = interrupts();
  const limits = { budgetSeconds, signal: signals.finishEarly };
  const why = await verifyRecords(records, store, site, tools, surroundings, limits, (one) => {
    found.push(one);
    show();
  }).finally(display.clear);
  const { device, compiler } = records[0] ?? { device: site.deviceKey, compiler: site.compiler.key };
  const whyNot = why?.reason ?? null;
  const notHere = asked.length - records.length;
  const isEmpty = records.length === 0;
  command.print({ device, compiler, records: found.map(rowOf), whyNot, notHere }, () =>
    [
      isEmpty
        ? sentences(`No gains${filterText(filter)} are recorded for this target, device and compiler.`)
        : table(['workload', 'recorded', 'now', '99% interval', 'verdict'], found.map(cellsOf), page),
      sentences(`Measured on ${device} with ${compiler}.`),
      ...(notHere > 0
        ? [
            sentences(
              `Not measured: ${notHere} records of other targets, devices or compilers, without a gain, or measured in their program only.`,
            ),
          ]
        : []),
    ].join('\n'),
  );
  if (whyNot !== null) warn(whyNot);
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
    shortKey(record.workload),
    formatRatio(record.evidence.ratio),
    formatRatio(now?.ratio),
    now === null ? '-' : `${now.low.toFixed(2)} to ${now.high.toFixed(2)}`,
    reason === null ? drift : `${drift}: ${reason}`,
  ];
}
