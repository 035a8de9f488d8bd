// Reads all lines of a team's PostgreSQL server, so that the team can move to a base.
import type { Exchange } from '../store/exchange/exchange.ts';
import { MOST_PROBLEMS } from '../store/exchange/files.ts';
import type { Line } from '../store/exchange/lines.ts';
import { readValue } from '../store/exchange/read.ts';
import { PARTS } from '../store/fields.ts';
import type { RecordKey } from '../store/store.ts';
import { keysOf } from '../store/subject.ts';
import { parseJson } from '../store/validate.ts';
import { isObject } from '../system/data.ts';
import { UserError } from '../system/user-error.ts';
import type { Place } from '../base/head.ts';
import { withoutPassword } from '../settings/address.ts';
import { serverDatabase, type Row, type ServerDatabase, type ServerError } from './database.ts';

/** Limit of one statement. */
const LIMIT_MS = 60_000;

/** Version of the arguments and results of the server's functions. */
const PROTOCOL = 1;

export interface Contents {
  /** The URL without its password. */
  readonly server: string;
  readonly lines: Readonly<Partial<Record<Line['type'], number>>>;
  /** Lines of a later version, which an upgrade reads. */
  readonly kept: number;
  /** Number of invalid lines, and of lines about keys that nobody described. */
  readonly refused: number;
  readonly problems: readonly string[];
  /** Targets and compilers of the claims, marks and trials. */
  readonly places: readonly Place[];
  /** Whether the places are all places of the server. Only an owner of its tables can list them. */
  readonly hasAllPlaces: boolean;
  readonly hasTrials: boolean;
}

/**
 * Merges everything that the server shows to the login, in one snapshot. The server hides revoked claims and the lines of blocked logins.
 * @param url valid by `isServerAddress`
 * @param known places to ask for, if the login cannot list them
 * @param into an empty database
 * @throws UserError for a server that fails, and StoreError
 */
export async function readOldServer(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
  known: () => Promise<readonly Place[]>,
  into: Pick<Exchange, 'receive'>,
): Promise<Contents> {
  using database = serverDatabase(url, env, undefined, LIMIT_MS);
  const server = withoutPassword(url);
  const query: Query = (text, values) =>
    database.rows(text, values).catch((error: unknown) => {
      throw new UserError(reasonOf(error as ServerError, server));
    });
  const added: Partial<Record<Line['type'], number>> = {};
  let [kept, refused] = [0, 0];
  const problems: string[] = [];
  const receive = (values: readonly unknown[]) => {
    const received = into.receive(values.map((value) => readValue(withForm(value))));
    for (const [type, count] of Object.entries(received.added) as [Line['type'], number][])
      added[type] = (added[type] ?? 0) + count;
    kept += received.kept;
    for (const { reason } of received.refused) if (refused++ < MOST_PROBLEMS) problems.push(reason);
  };
  const { owns, tries } = await rightsOf(query, server);
  await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  if (owns) receive(await query(ALL_PARTS));
  const places = owns ? ((await query(ALL_PLACES)) as unknown as Place[]) : await known();
  const subjects = new Map<string, object>();
  // A pull without a place returns the revocations.
  for (const place of [{}, ...places])
    for await (const lines of pagesOf(query, server, place)) {
      receive(lines);
      for (const line of lines)
        if (isObject(line) && 'workload' in line) {
          const subject = keysOf(line as unknown as RecordKey);
          subjects.set(JSON.stringify(subject), subject);
        }
    }
  if (tries)
    for (const subject of owns ? await query(TRIED_SUBJECTS) : subjects.values())
      receive((await ask(query, server, 'trials', subject)).lines);
  return {
    ...{ server, lines: added, kept, refused, problems },
    ...{ places, hasAllPlaces: owns, hasTrials: tries },
  };
}

type Query = ServerDatabase['rows'];

/** Rows like part lines. */
const ALL_PARTS = PARTS.map(
  (part) =>
    `SELECT '${part}' AS type, 1 AS version, key, form FROM iree_tuned.${part} WHERE form IS NOT NULL`,
).join(' UNION ALL ');

const ALL_PLACES = `
  SELECT t.key AS target, k.key AS compiler
  FROM (SELECT DISTINCT target, compiler FROM iree_tuned.subject) AS s
  JOIN iree_tuned.target AS t ON t.id = s.target
  JOIN iree_tuned.compiler AS k ON k.id = s.compiler
  ORDER BY target, compiler`;

const TRIED_SUBJECTS = `
  SELECT w.key AS workload, t.key AS target, d.key AS device, k.key AS compiler
  FROM iree_tuned.subject AS s
  JOIN iree_tuned.workload AS w ON w.id = s.workload
  JOIN iree_tuned.target AS t ON t.id = s.target
  JOIN iree_tuned.device AS d ON d.id = s.device
  JOIN iree_tuned.compiler AS k ON k.id = s.compiler
  WHERE EXISTS (SELECT FROM iree_tuned.trial WHERE subject = s.id)`;

/** Whether the login owns the tables, and whether it may ask for trials. */
async function rightsOf(query: Query, server: string): Promise<{ owns: boolean; tries: boolean }> {
  const [rights] = await query(
    `SELECT pg_has_role(nspowner, 'USAGE') AS owns,
       has_function_privilege('iree_tuned.trials(jsonb)', 'EXECUTE') AS tries
     FROM pg_namespace WHERE nspname = 'iree_tuned'`,
  );
  if (rights === undefined) throw new UserError(withoutTables(server));
  return { owns: rights['owns'] === true, tries: rights['tries'] === true };
}

/** Lines of a place, page by page, with the revocations. */
async function* pagesOf(query: Query, shown: string, place: object): AsyncGenerator<readonly unknown[]> {
  for (let cursor: Row = {}, isLast = false; !isLast;) {
    const { lines, more, server, epoch, seq } = await ask(query, shown, 'pull', { ...place, ...cursor });
    yield lines;
    isLast = more !== true;
    // A server that repeats a page would never end.
    if (!isLast && !(Number(seq) > Number(cursor['seq'] ?? 0))) throw new UserError(foreign(shown));
    cursor = { server, epoch, seq };
  }
}

async function ask(
  query: Query,
  server: string,
  name: 'pull' | 'trials',
  request: object,
): Promise<Row & { readonly lines: readonly unknown[] }> {
  const text = JSON.stringify({ ...request, protocol: PROTOCOL });
  const [row] = await query(`SELECT iree_tuned.${name}($1) AS answer`, [text]);
  const answer = row?.['answer'];
  if (!isObject(answer) || answer['protocol'] !== PROTOCOL || !Array.isArray(answer['lines']))
    throw new UserError(foreign(server));
  return { ...answer, lines: answer['lines'] };
}

/** A value of the server as a line. The server has forms as texts, because `jsonb` reorders keys. */
const withForm = (value: unknown): unknown =>
  isObject(value) && 'form' in value ? { ...value, form: parseJson(value['form']) } : value;

const withoutTables = (shown: string) =>
  `the server ${shown} has no tables of iree-compile-tuned: name the database of the team's server`;

const foreign = (shown: string) =>
  `the server ${shown} sent an answer of unknown form: it is no team's server, or one of another version`;

function reasonOf({ kind, code, message }: ServerError, server: string): string {
  switch (kind) {
    case 'denied':
      return `the server ${server} denies access${code === '' ? '' : ` (${code})`}: correct the URL's login or sslmode, or the password in PGPASSWORD or ~/.pgpass`;
    case 'incompatible':
      return withoutTables(server);
    case 'rejected':
      return `${message}: use a login with the role iree_tuned_administrator, or for a part of the lines iree_tuned_reader`;
    case 'unreachable':
      return message;
  }
}
