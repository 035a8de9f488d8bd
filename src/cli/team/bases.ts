// `iree-tuned team status` and `team sync` of bases.
import { folderOf, installedHead, isInstalled, lastCheck } from '../../base/installed.ts';
import { runJob } from '../../base/job.ts';
import { jobFor } from '../../base/start.ts';
import { siteOf } from '../../populate/site.ts';
import { baseText, type BaseAddress } from '../../settings/address.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { placeOf } from '../../store/subject.ts';
import { resultOr } from '../../system/result-or.ts';
import { CliCommand } from '../command.ts';
import { isThere } from '../database.ts';
import { UsageError } from '../failure.ts';
import { HOST_DEFAULTS } from '../input.ts';
import { requireOwnDatabase } from './server.ts';

/** A base as this machine has it. */
export function stateOf(address: BaseAddress, { cacheDirectory, settings }: Surroundings) {
  const folder = folderOf(cacheDirectory, address);
  const checked = lastCheck(folder);
  const head = resultOr(() => installedHead(folder, settings.teamKey), null);
  return {
    base: baseText(address),
    sequence: head?.sequence ?? null,
    published: head?.time ?? null,
    checked: checked === null ? null : new Date(checked.at).toISOString(),
    problem: checked?.problem ?? null,
    databases: (head?.databases ?? []).map((one) => ({
      ...one,
      isInstalled: isInstalled(folder, one),
    })),
  };
}

/** @throws UsageError without a base */
function requireBases({ settings }: Surroundings): void {
  if (settings.bases.length === 0)
    throw new UsageError(
      'no team is set: set IREE_TUNED_TEAM, or "team" in a settings file, to a folder or an https:// URL',
    );
}

export const status = new CliCommand('status', "show the team's bases, and how far they are here")
  .json()
  .examples(
    ['iree-tuned team status', 'of the setting "team"'],
    ['iree-tuned --team /mnt/share/tuned team status', 'of another base'],
  )
  .action((_, command: CliCommand) => {
    showBases(command);
  });

export const sync = new CliCommand('sync', "bring the team's bases up to date now, and deliver new records")
  .withFlags('')
  .json()
  .examples(
    ['iree-tuned team sync', 'for this CPU, and all targets of earlier builds'],
    ['iree-tuned team sync -- --iree-llvmcpu-target-cpu=znver4', 'also for another target'],
  )
  .action((_, command: CliCommand) => syncBases(command));

/** Ends with 1 where a base could not be asked. */
function showBases(command: CliCommand): void {
  const surroundings = command.surroundings();
  requireBases(surroundings);
  const bases = surroundings.settings.bases.map((address) => stateOf(address, surroundings));
  if (bases.some(({ problem }) => problem !== null)) process.exitCode = 1;
  const rows = bases.flatMap(({ base, sequence, published, checked, problem, databases }) => [
    ['base', base],
    ['number', sequence === null ? 'not here yet' : `${sequence}, published ${published!}`],
    ['asked', checked ?? 'never'],
    ...(problem === null ? [] : [['problem', problem]]),
    ...databases.map(({ target, compiler, claims, isInstalled }) => [
      isInstalled ? 'here' : 'not here',
      `${claims} claims for ${target}, ${compiler}`,
    ]),
  ]);
  command.printTable({ bases }, ['what', 'value'], rows);
}

/** Asks all bases now, and sends new records if a setting says so. */
async function syncBases(command: CliCommand): Promise<void> {
  const surroundings = command.surroundings();
  const { publish, database } = surroundings.settings;
  requireBases(surroundings);
  const isSent = publish !== 'off' && isThere(surroundings);
  if (isSent) requireOwnDatabase(surroundings);
  const flags = command.flags.length > 0 ? command.flags : HOST_DEFAULTS;
  const places = [placeOf((await siteOf(flags, surroundings)).site)];
  await runJob(jobFor({ places, ...(isSent && { sent: database }) }, surroundings));
  showBases(command);
}
