// `iree-tuned team migrate`, `roles`, `status`, `distrust` and `trust`.
import type { Command as Program } from 'commander';
import { table } from '../report/table.ts';
import { PROJECT_FILE } from '../settings/files.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { readAddress, type Address } from '../team/address.ts';
import { breakerState } from '../team/breaker.ts';
import { openConnection, type Connection } from '../team/connection.ts';
import { failureOf } from '../team/failure.ts';
import { migrateTeam } from '../team/migrate.ts';
import { passwordFor } from '../team/password-file.ts';
import { openTeam } from '../team/postgres.ts';
import { ROLES, ROLES_SQL } from '../team/roles.ts';
import { teamState } from '../team/state.ts';
import type { Answer, Team } from '../team/team.ts';
import { UserError } from '../system/user-error.ts';
import { surroundingsOf, UsageError } from './context.ts';
import { page, say } from './output.ts';

/** Limit of a command; a build waits less. */
export const COMMAND_LIMIT_MS = 30_000;

/**
 * For commands that push the database to the team.
 * @throws UserError where a project has chosen it that the user does not trust
 */
export function requireOwnDatabase({ settings }: Surroundings): void {
  if (settings.isForeignDatabase)
    throw new UserError(
      `${settings.database} was chosen by the project's ${PROJECT_FILE}, and nothing of it goes to a team: ` +
        'name a database of your own with --db',
    );
}

/** URL of the team's server. Throws UsageError where none is set. */
export function teamUrl({ settings }: Surroundings): string {
  if (settings.team !== undefined) return settings.team;
  throw new UsageError(
    'no team is set: say --team postgres://user@host/database, set IREE_TUNED_TEAM, or "team" in a settings file',
  );
}

/** The team's server, to be asked by a command; closed afterwards. */
export async function withTeam<T>(
  surroundings: Surroundings,
  action: (team: Team, url: string) => Promise<T>,
): Promise<T> {
  const url = teamUrl(surroundings);
  const team = openTeam(url, surroundings.env);
  try {
    return await action(team, url);
  } finally {
    team.close();
  }
}

/** The answer. @throws UserError with the reason for none */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new UserError(answer.failure.reason);
}

/** A connection for statements beyond the server's functions. */
export async function withConnection<T>(
  surroundings: Surroundings,
  action: (connection: Connection, address: Address) => Promise<T>,
): Promise<T> {
  const address = readAddress(teamUrl(surroundings));
  const password = passwordFor(address, surroundings.env);
  const connection = openConnection(address, password);
  try {
    return await action(connection, address);
  } catch (error) {
    if (error instanceof UserError) throw error;
    // The driver's own error may hold more than its message.
    throw new UserError(failureOf(error, address, password).reason);
  } finally {
    connection.close();
  }
}

export async function migrate(options: { json?: boolean }, program: Program): Promise<void> {
  const { installQueue } = await import('../fleet/install.ts');
  const { queueDatabase } = await import('../fleet/database.ts');
  const surroundings = surroundingsOf(program);
  await withConnection(surroundings, async (connection, address) => {
    const { shown } = address;
    const { from, to } = await migrateTeam(connection);
    await installQueue(queueDatabase(address, passwordFor(address, surroundings.env), connection));
    if (options.json === true) console.log(JSON.stringify({ server: shown, from, to }, null, 2));
    else if (from === to) say(`${shown} has schema ${to} already.`);
    else say(`${shown} has schema ${to} now${from === 0 ? '' : ` (before: ${from})`}.`);
  });
}

export async function roles(options: { json?: boolean; apply?: boolean }, program: Program): Promise<void> {
  const names = ROLES.map(({ name }) => name);
  if (options.apply === true)
    await withConnection(surroundingsOf(program), (connection) =>
      connection.query(ROLES_SQL, [], COMMAND_LIMIT_MS),
    );
  if (options.json === true)
    console.log(JSON.stringify({ roles: ROLES, sql: ROLES_SQL, applied: options.apply === true }, null, 2));
  else if (options.apply === true)
    say(`The roles are there: ${names.join(', ')}. To let somebody in: GRANT ${names[0]!} TO somebody;`);
  else process.stdout.write(ROLES_SQL);
}

interface Revocation {
  readonly scope: 'record' | 'tool' | 'origin';
  readonly value: string;
}

interface Distrusted {
  /** Claims that are gone. */
  readonly removed: number;
  /** Origins that only this login has named. */
  readonly origins: readonly string[];
  /** Revocations that are withdrawn. */
  readonly revocations: readonly Revocation[];
}

export async function distrust(login: string, options: { json?: boolean }, program: Program): Promise<void> {
  await withConnection(surroundingsOf(program), async (connection, { shown }) => {
    const ask = async <T>(text: string) =>
      (await connection.query(text, [login], COMMAND_LIMIT_MS)) as readonly T[];
    const origins = await ask<{ origin: string }>(
      `SELECT DISTINCT person || '@' || machine AS origin FROM iree_tuned.origin AS own
       WHERE login = $1 AND person <> '' AND NOT EXISTS (
         SELECT FROM iree_tuned.origin AS o WHERE o.login <> $1 AND (o.person, o.machine) = (own.person, own.machine))
       ORDER BY origin`,
    );
    const revocations = await ask<Revocation>(
      'SELECT scope, value FROM iree_tuned.revocation WHERE login = $1 ORDER BY scope, value',
    );
    const [row] = await ask<{ removed: string }>('SELECT iree_tuned.distrust($1) AS removed');
    const result: Distrusted = {
      removed: Number(row!.removed),
      origins: origins.map(({ origin }) => origin),
      revocations,
    };
    if (options.json === true) console.log(JSON.stringify({ server: shown, login, ...result }, null, 2));
    else say(inWords(login, result));
  });
}

function inWords(login: string, { removed, origins, revocations }: Distrusted): string {
  const lines = [
    `Nothing is taken from ${login} any more, and nothing served that it has brought: ${removed} claims are gone.`,
    'Everybody else tells theirs again by the next sync.',
  ];
  if (origins.length > 0)
    lines.push(
      'Who has pulled what it has brought is rid of that by a revocation:',
      ...origins.map((origin) => `  iree-tuned revoke --origin ${quoted(origin)} --reason ...`),
    );
  if (revocations.length > 0)
    lines.push(
      'Its revocations are withdrawn. A machine that has pulled them takes them back by:',
      ...revocations.map(({ scope, value }) => `  iree-tuned restore --${scope} ${quoted(value)}`),
    );
  return lines.join('\n');
}

/** A shell word without control characters: anybody may have written the text. */
const quoted = (text: string) => `'${text.replaceAll(/\p{C}/gu, '?').replaceAll("'", String.raw`'\''`)}'`;

export async function trust(login: string, options: { json?: boolean }, program: Program): Promise<void> {
  await withConnection(surroundingsOf(program), async (connection, { shown }) => {
    const [row] = await connection.query('SELECT iree_tuned.trust($1) AS trusted', [login], COMMAND_LIMIT_MS);
    if (!(row as { trusted: boolean }).trusted) throw new UserError(`${login} is not distrusted by ${shown}`);
    if (options.json === true) console.log(JSON.stringify({ server: shown, login }, null, 2));
    else say(`${login} is trusted again; by its next sync it tells anew what it knows.`);
  });
}

export async function status(options: { json?: boolean }, program: Program): Promise<void> {
  const surroundings = surroundingsOf(program);
  const { answer, url } = await withTeam(surroundings, async (team, url) => ({
    answer: await team.status(COMMAND_LIMIT_MS),
    url,
  }));
  const state = teamState(surroundings.cacheDirectory, url);
  const failed = state.breaker();
  const breaker = {
    state: breakerState(failed, Date.now()),
    failures: failed?.failures ?? 0,
    until: failed === null ? null : new Date(failed.until).toISOString(),
    reason: failed?.reason ?? null,
  };
  const missing = Object.keys(state.missing()).length;
  const { shown } = readAddress(url);
  if (!answer.ok) process.exitCode = 1;
  if (options.json === true) {
    const server = answer.ok ? { ...answer.value, problem: null } : { problem: answer.failure.reason };
    console.log(JSON.stringify({ url: shown, ...server, breaker, missing }, null, 2));
    return;
  }
  const rows: string[][] = [['url', shown]];
  if (answer.ok) {
    const { server, epoch, protocol, version, login, counts, bytes } = answer.value;
    rows.push(
      ['server', server],
      ['epoch', epoch],
      ['protocol', String(protocol)],
      ['schema', String(version)],
      ['login', login],
      ...Object.entries(counts).map(([name, count]) => [name, String(count)]),
      ...Object.entries(bytes).map(([name, size]) => [`bytes of ${name}`, String(size)]),
    );
  } else rows.push(['problem', answer.failure.reason]);
  rows.push(
    ['builds ask', breaker.state === 'open' ? `not until ${breaker.until!}: ${breaker.reason!}` : 'yes'],
    ['known to be missing', `${missing} for ten minutes`],
  );
  console.log(table(['what', 'value'], rows, page));
}
