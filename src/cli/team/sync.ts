// `iree-tuned team sync`
import { table } from '../../report/table.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { placeOf } from '../../store/subject.ts';
import { UserError } from '../../system/user-error.ts';
import { pull, push, type PullResult, type PushResult } from '../../team/exchange.ts';
import { teamState } from '../../team/state.ts';
import type { Filter } from '../../team/team.ts';
import { siteOf } from '../../populate/site.ts';
import { CliCommand } from '../command.ts';
import { exchanging, openDatabase } from '../database.ts';
import { HOST_DEFAULTS } from '../input.ts';
import { page } from '../output.ts';
import { syncBases } from './bases.ts';
import { COMMAND_LIMIT_MS, requireOwnDatabase, valueOf, withTeam } from './server.ts';

/** Limit of all pushes of one sync. */
const PUSH_LIMIT_MS = 3_600_000;

export const sync = new CliCommand(
  'sync',
  "bring the team's bases up to date now, or exchange lines with its server, and let builds ask it again",
)
  .withFlags('')
  .json()
  .examples(
    ['iree-tuned team sync', 'all targets with records or misses here'],
    ['iree-tuned team sync -- --iree-llvmcpu-target-cpu=znver4', 'also for another target'],
  )
  .action((_, command: CliCommand) =>
    command.surroundings().settings.bases.length > 0 ? syncBases(command) : syncWithTeam(command),
  );

async function syncWithTeam(command: CliCommand): Promise<void> {
  const surroundings = command.surroundings();
  const { settings, cacheDirectory } = surroundings;
  if (settings.readonly)
    throw new UserError('team sync writes the database, and IREE_TUNED_READONLY is set: unset it');
  requireOwnDatabase(surroundings);
  await withTeam(surroundings, async (team, url) => {
    // The next build asks the server again, even after failures.
    teamState(cacheDirectory, url).forget();
    const server = valueOf(await team.identify(COMMAND_LIMIT_MS));
    const filters = await filtersOf(command.flags, surroundings);
    await exchanging(surroundings, async (local) => {
      local.reread();
      const pulled: (Filter & PullResult)[] = [];
      for (const filter of filters)
        pulled.push({ ...filter, ...valueOf(await pull(team, local, filter, server, COMMAND_LIMIT_MS)) });
      const pushing = await push(team, local, server, { limitMs: PUSH_LIMIT_MS, allTrials: false });
      // Most logins may only read.
      const pushed = !pushing.ok && pushing.failure.kind === 'rejected' ? null : valueOf(pushing);
      const whyNot = pushing.ok ? null : pushing.failure.reason;
      command.print({ ...server, pulled, pushed, whyNot }, () => described(pulled, pushed, whyNot));
    });
  });
}

/**
 * One filter for each target and compiler of the records and misses here, of this machine, and of the flags. Records of all devices
 * are useful, so no filter has a device.
 * @throws UserError when the compiler reports no target for the flags
 */
async function filtersOf(flags: readonly string[], surroundings: Surroundings): Promise<Filter[]> {
  const store = await openDatabase(surroundings);
  const known: Filter[] = [...store.allRecords(), ...store.misses()];
  store.close();
  const asked = flags.length === 0 ? [] : [placeOf((await siteOf(flags, surroundings)).site)];
  const all = [...known, ...(await ownPlace(surroundings)), ...asked];
  const byText = new Map(
    all.map(({ target, compiler }) => [JSON.stringify([target, compiler]), { target, compiler }]),
  );
  return [...byText.values()];
}

/** Target and compiler of a build for this machine; empty where no compiler reports them. */
async function ownPlace(surroundings: Surroundings): Promise<Filter[]> {
  try {
    return [placeOf((await siteOf(HOST_DEFAULTS, surroundings)).site)];
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

function described(
  pulled: readonly (Filter & PullResult)[],
  pushed: PushResult | null,
  whyNot: string | null,
): string {
  const rows = pulled.map(({ target, compiler, received, added, kept, ignored }) => [
    target,
    compiler,
    ...[received, added, kept, ignored].map(String),
  ]);
  const parts = [
    pulled.length === 0
      ? 'Nothing to pull: this database has no records, so it names no targets.'
      : table(['target', 'compiler', 'received', 'new here', 'of later versions', 'ignored'], rows, page),
    pushed === null
      ? `Not pushed: ${whyNot!}`
      : `Pushed ${pushed.sent} lines; new there: ${Object.entries(pushed.changed)
          .map(([name, count]) => `${count} ${name}`)
          .join(', ')}.`,
    ...(pushed !== null && pushed.kept > 0
      ? [`Not pushed: ${pushed.kept} lines of a later version; update iree-compile-tuned to push them.`]
      : []),
    ...Object.entries(pushed?.refused ?? {}).map(
      ([reason, count]) => `Refused by the server: ${count} ${reason}.`,
    ),
  ];
  return parts.join('\n');
}
