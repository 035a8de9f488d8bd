// `iree-tuned sync`: pulls new lines of the team, and pushes new lines of this database.
import type { Command as Program } from 'commander';
import { table } from '../report/table.ts';
import { wrapped } from '../report/text.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { placeOf } from '../store/subject.ts';
import { UserError } from '../system/user-error.ts';
import { pull, push, type PullResult, type PushResult } from '../team/exchange.ts';
import { teamState } from '../team/state.ts';
import type { Filter } from '../team/team.ts';
import { COMMAND_LIMIT_MS, requireOwnDatabase, valueOf, withTeam } from './team.ts';
import { HOST_DEFAULTS, openDatabase, openWholeDatabase, siteOf, surroundingsOf } from './context.ts';
import { page } from './output.ts';

/** All pushes of one sync together. */
const PUSH_LIMIT_MS = 3_600_000;

export async function sync(
  flags: readonly string[],
  options: { json?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program);
  const { settings, cacheDirectory } = surroundings;
  if (settings.readonly)
    throw new UserError('the database is only read: unset IREE_TUNED_READONLY to sync it');
  requireOwnDatabase(surroundings);
  await withTeam(surroundings, async (team, url) => {
    // The next build asks the server again, whatever has failed before.
    teamState(cacheDirectory, url).forget();
    const server = valueOf(await team.identify(COMMAND_LIMIT_MS));
    const filters = await filtersOf(flags, surroundings);
    const local = openWholeDatabase(surroundings);
    try {
      local.reread();
      const pulled: (Filter & PullResult)[] = [];
      for (const filter of filters)
        pulled.push({ ...filter, ...valueOf(await pull(team, local, filter, server, COMMAND_LIMIT_MS)) });
      const pushing = await push(team, local, server, { limitMs: PUSH_LIMIT_MS, allTrials: false });
      // Readers are the rule.
      const pushed = !pushing.ok && pushing.failure.kind === 'rejected' ? null : valueOf(pushing);
      const whyNot = pushing.ok ? null : pushing.failure.reason;
      if (options.json === true) console.log(JSON.stringify({ ...server, pulled, pushed, whyNot }, null, 2));
      else console.log(described(pulled, pushed, whyNot));
    } finally {
      local.close();
    }
  });
}

/**
 * One for each target and compiler that there are records or misses of here, for this machine's, and for what flags say;
 * whatever the device, since records of other devices are of use, too.
 * @throws UserError when the compiler does not say what the flags' target is
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

/** What a build on this machine would be for; nothing where there is no compiler, or it does not say. */
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
      ? wrapped(
          'Nothing to pull: this database has no records yet, so it is not known for which targets.',
          page.columns,
        )
      : table(['target', 'compiler', 'received', 'new here', 'of later versions', 'not taken'], rows, page),
    pushed === null
      ? `Not pushed: ${whyNot!}`
      : `Pushed ${pushed.sent} lines; new there: ${Object.entries(pushed.changed)
          .map(([name, count]) => `${count} ${name}`)
          .join(', ')}.`,
    ...(pushed !== null && pushed.kept > 0
      ? [`Not pushed: ${pushed.kept} lines of a later version, before this program is updated.`]
      : []),
    ...Object.entries(pushed?.refused ?? {}).map(([reason, count]) => `Not taken there: ${count} ${reason}.`),
  ];
  return parts.join('\n');
}
