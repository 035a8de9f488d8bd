// `iree-tuned team export`: the lines of a team's PostgreSQL server.
import { join } from 'node:path';
import type { Place } from '../../base/head.ts';
import { readOldServer, type Contents } from '../../fleet/old-server.ts';
import { isServerAddress } from '../../settings/address.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { openExchange } from '../../store/sqlite/exchange.ts';
import { counted } from '../../system/format.ts';
import { withScratchFolder } from '../../system/scratch.ts';
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { openIfThere } from '../database.ts';
import { deliver, warnOfLines } from '../db/exchange.ts';
import { UsageError } from '../failure.ts';
import { sentences, warn } from '../output.ts';

export const exportCommand = new CliCommand(
  'export',
  "write all lines of a team's PostgreSQL server to a file for iree-tuned team publish or db import",
)
  .argument('<url>', 'postgres://user@host/database')
  .argument('<file>', 'path of the file; - for stdout')
  .json('print the result as JSON')
  .examples(
    [
      'iree-tuned team export postgres://postgres@tuning.example.com/tuning server.jsonl',
      'all lines, as an owner of the tables',
    ],
    [
      'iree-tuned team export postgres://ada@tuning.example.com/tuning - | gzip > server.jsonl.gz',
      'as a reader: lines of the targets that the database here names',
    ],
  )
  .action(async (url: string, file: string, { json = false }: { json?: boolean }, command: CliCommand) => {
    if (!isServerAddress(url))
      throw new UsageError('team export: the URL must be postgres://user@host/database');
    const isPiped = file === '-';
    if (isPiped && json) throw new UsageError('team export -: --json needs a file');
    const surroundings = command.surroundings();
    const { env, cacheDirectory } = surroundings;
    const contents = await withScratchFolder(cacheDirectory, 'export', async (folder) => {
      // A database merges lines that the server repeats, and sorts all of them.
      using exchange = openExchange(join(folder, 'server.db'));
      const read = await readOldServer(url, env, () => placesHere(surroundings), exchange);
      requirePlaces(read, surroundings);
      const lines = exchange.lines({}, (reason) => {
        warn(`not exported: ${reason}`);
      });
      await deliver(file, lines);
      return read;
    });
    tellGaps(contents, surroundings);
    if (!isPiped) command.print({ file, ...contents }, () => described(file, contents));
  });

/** Targets and compilers of the records and misses here. */
async function placesHere(surroundings: Surroundings): Promise<Place[]> {
  using store = await openIfThere(surroundings);
  if (store === null) return [];
  const all = [...store.allRecords(), ...store.misses()];
  const places = all.map(({ target, compiler }) => ({ target, compiler }));
  return [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
}

const WAY_OUT = 'a login with the role iree_tuned_administrator exports all lines';

/** @throws UserError for a reader whose database names no targets */
function requirePlaces({ server, hasAllPlaces, places }: Contents, { settings }: Surroundings): void {
  if (hasAllPlaces || places.length > 0) return;
  throw new UserError(
    `the server ${server} lists its targets for owners of its tables only, and the database ${settings.database} names none: ` +
      `${WAY_OUT}, or --db names a database with records of the team's targets`,
  );
}

function tellGaps(
  { refused, problems, hasAllPlaces, places, hasTrials }: Contents,
  { settings }: Surroundings,
): void {
  warnOfLines('not exported', problems, 'invalid lines', refused);
  if (!hasAllPlaces)
    warn(
      `this login does not own the tables. The lines${hasTrials ? '' : ', without trials,'} are those of ` +
        `${counted(places.length, 'pair')} of target and compiler in ${settings.database}: ${WAY_OUT}`,
    );
}

function described(file: string, { server, lines, kept }: Contents): string {
  const counts = (
    ['claim', 'mark', 'trial', 'revocation', 'workload', 'target', 'device', 'compiler'] as const
  ).map((type) => counted(lines[type] ?? 0, type));
  return sentences(
    `${file}: ${counts.join(', ')} from ${server}`,
    ...(kept > 0 ? [`${counted(kept, 'line')} of a later version, unread`] : []),
  );
}
