// `iree-tuned team status` and `team sync` of bases.
import { headIn, folderOf, databaseIn, lastCheck } from '../../base/installed.ts';
import { readHeadText } from '../../base/head.ts';
import { runJob } from '../../base/job.ts';
import { siteOf } from '../../populate/site.ts';
import { baseText, type BaseAddress } from '../../settings/bases.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { placeOf } from '../../store/subject.ts';
import { textIn } from '../../system/files.ts';
import { resultOr } from '../../system/result-or.ts';
import { existsSync } from 'node:fs';
import type { CliCommand } from '../command.ts';
import { isThere } from '../database.ts';
import { HOST_DEFAULTS } from '../input.ts';
import { requireOwnDatabase } from './server.ts';

/** A base as this machine has it. */
export function stateOf(address: BaseAddress, { cacheDirectory, settings }: Surroundings) {
  const folder = folderOf(cacheDirectory, address);
  const checked = lastCheck(folder);
  const text = textIn(headIn(folder));
  const head = text === '' ? null : resultOr(() => readHeadText(text, settings.teamKey), null);
  return {
    base: baseText(address),
    sequence: head?.sequence ?? null,
    published: head?.time ?? null,
    checked: checked === null ? null : new Date(checked.at).toISOString(),
    problem: checked?.problem ?? null,
    databases: (head?.databases ?? []).map((one) => ({
      ...one,
      isInstalled: existsSync(databaseIn(folder, one)),
    })),
  };
}

/** Ends with 1 where a base could not be asked. */
export function showBases(command: CliCommand): void {
  const surroundings = command.surroundings();
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
export async function syncBases(command: CliCommand): Promise<void> {
  const surroundings = command.surroundings();
  const { settings, cacheDirectory } = surroundings;
  const { bases, teamKey, teamToken, publish } = settings;
  const isSent = publish !== 'off' && isThere(surroundings);
  if (isSent) requireOwnDatabase(surroundings);
  const flags = command.flags.length > 0 ? command.flags : HOST_DEFAULTS;
  const places = [placeOf((await siteOf(flags, surroundings)).site)];
  await runJob({
    ...{ addresses: bases, places, cacheDirectory, key: teamKey, token: teamToken, publish },
    ...(isSent && { sent: settings.database }),
  });
  showBases(command);
}
