// `iree-tuned which`
import { withInstalled } from '../base/open.ts';
import { configurationKey } from '../backend/index.ts';
import { moduleNotes, type ModuleNote, type NotedOperations } from '../report/module-note.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { isRevoked } from '../store/claim.ts';
import type { Revocation } from '../store/store.ts';
import { counted, intervalText, timeText } from '../system/format.ts';
import { fileSha256 } from '../system/hash.ts';
import { UserError } from '../system/user-error.ts';
import { orRefusal } from '../system/user-files.ts';
import { printable } from '../report/text.ts';
import { CliCommand } from './command.ts';
import { openIfThere } from './database.ts';
import { page, sentences } from './output.ts';

type Revoked = Pick<Revocation, 'scope' | 'value' | 'reason'>;

export const which = new CliCommand(
  'which',
  'name the records in a module that a tuned build on this machine delivered',
)
  .argument('<module>', 'path of the module, or of a copy')
  .json()
  .examples(
    ['iree-tuned which model.vmfb', 'each configuration, its record, and its origin'],
    ['iree-tuned which model.vmfb --json', 'for scripts'],
  )
  .action(async (path: string, _, command: CliCommand) => {
    const surroundings = command.surroundings();
    const note = noteOf(path, surroundings);
    using store = await withInstalled(await openIfThere(surroundings), surroundings);
    const all = store?.revocations() ?? [];
    const operations = note.operations.map((one) => ({ ...one, revoked: revocationOf(one, all) }));
    const { identity: sha256, ...about } = note;
    command.print({ sha256, ...about, operations }, () => described(path, note, operations));
  });

/** @throws UserError for an unreadable file, and for bytes that no tuned build here has delivered */
function noteOf(path: string, { cacheDirectory }: Surroundings): ModuleNote {
  const digest = orRefusal(`${path} cannot be read`, () => fileSha256(path));
  const note = moduleNotes.recall(cacheDirectory, digest);
  if (note !== null) return note;
  throw new UserError(
    `no tuned build on this machine delivered ${path} (SHA-256 ${digest}): it is untuned, or from another machine or cache folder, or its build ` +
      'is older than a year. A build with --iree-tuned-explain=FILE writes the same facts to FILE',
  );
}

/** The revocation that covers a record by now; null for none. */
const revocationOf = ({ record }: NotedOperations, all: readonly Revoked[]): Revoked | null =>
  (record && all.find((one) => isRevoked(record, [one]))) ?? null;

function described(
  path: string,
  { input, folder, builtAt, target, device, compiler, forms, untuned }: ModuleNote,
  operations: readonly (NotedOperations & { readonly revoked: Revoked | null })[],
): string {
  const formCounts = Object.entries(forms).map(([form, count]) => `${count} as ${form}`);
  return [
    sentences(
      `${path} is the output of ${input} in ${folder}, built at ${timeText(builtAt)}.`,
      `  target    ${target}`,
      `  device    ${device}`,
      `  compiler  ${compiler}`,
      ...(formCounts.length === 0 ? [] : [`  forms     ${formCounts.join(', ')}`]),
      ...(untuned === 0 ? [] : [`  ${counted(untuned, 'other operation')} without a configuration`]),
    ),
    ...operations.map((one) => describe(one, device)),
  ].join('\n\n');
}

function describe(
  {
    operation,
    count,
    locations,
    workload,
    configuration,
    speedup,
    source,
    record,
    reason,
    landed,
    revoked,
  }: NotedOperations & { readonly revoked: Revoked | null },
  device: string,
): string {
  const others = count - locations.length;
  const places = [...locations, ...(others > 0 ? [`${others} more`] : [])].join(', ');
  const lines = [
    workload!,
    configurationKey(configuration!),
    reason + intervalText(speedup),
    `from: ${source!}`,
    ...(record
      ? [
          `record: ${record.digest}`,
          `measured: ${timeText(record.createdAt)} by ${record.createdBy} on ${record.machine}, with iree-compile-tuned ${record.tool}`,
          ...(record.device === device ? [] : [`device: ${record.device}`]),
          `compiler: ${record.compiler}`,
        ]
      : []),
    ...(landed === false ? ['not applied: no executable has the configuration'] : []),
  ];
  return [
    page.paint('bold', printable(`${operation}  ${places}`)),
    ...lines.map((line) => printable(`  ${line}`)),
    ...(revoked === null
      ? []
      : [
          page.paint('yellow', printable(`  revoked: ${revoked.scope} ${revoked.value} (${revoked.reason})`)),
        ]),
  ].join('\n');
}
