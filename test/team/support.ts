// A team's server with roles and tables, and sample lines.
import { onTestFinished } from 'vitest';
import { DEFAULT_CONFIGURATION, type Configuration } from '../../src/backend/configuration.ts';
import type {
  ClaimLine,
  Line,
  MarkLine,
  PartLine,
  RevocationLine,
  TrialLine,
} from '../../src/store/exchange/lines.ts';
import type { Subject } from '../../src/store/store.ts';
import { keysOf } from '../../src/store/subject.ts';
import { storedForm, type OperationWork } from '../../src/workload/workload.ts';
import { readAddress } from '../../src/team/address.ts';
import { openConnection } from '../../src/team/connection.ts';
import { migrateTeam } from '../../src/team/migrate.ts';
import { openTeam } from '../../src/team/postgres.ts';
import { ROLES_SQL } from '../../src/team/roles.ts';
import type { Answer, Team } from '../../src/team/team.ts';
import {
  claimLineOf,
  markLineOf,
  partLinesOf,
  revocationLineOf,
  trialLineOf,
} from '../store/exchange/samples.ts';
import { SUBJECT, subjectOf, TILE } from '../store/samples.ts';
import { testServer, type TestDatabase, type TestServer } from '../support/postgres.ts';

export { SUBJECT, subjectOf, TILE };

/** A limit that only a hang exceeds. */
export const LONG = 60_000;

/** A migrated database that the roles own: a copy of one template. */
export async function teamDatabase(server?: TestServer): Promise<TestDatabase> {
  const own = server ?? (await testServer());
  return own.copyOf('team', async () => {
    const database = await own.database();
    const connection = openConnection(readAddress(database.url), '');
    await connection.query(ROLES_SQL, [], LONG);
    await migrateTeam(connection);
    connection.close();
    return database;
  });
}

/** A client that closes after the test. */
export function client(url: string): Team {
  const team = openTeam(url, {});
  onTestFinished(() => {
    team.close();
  });
  return team;
}

/** A client with a new login of a role. */
export const clientAs = async (
  database: TestDatabase,
  role: 'reader' | 'writer' | 'worker' | 'administrator',
  name: string = role,
): Promise<Team> => client(await database.login(name, { in: `iree_tuned_${role}` }));

/** The value of an answer; throws the reason of a failure. */
export async function given<T>(answer: Promise<Answer<T>>): Promise<T> {
  const got = await answer;
  if (!got.ok) throw new Error(`${got.failure.kind}: ${got.failure.reason}`);
  return got.value;
}

/** The failure of an answer; throws if there is none. */
export async function refusal(answer: Promise<Answer<unknown>>) {
  const got = await answer;
  if (got.ok) throw new Error(`was answered: ${JSON.stringify(got.value)}`);
  return got.failure;
}

/** The descriptions of a subject, as a build sends them. */
export const partsOf = (subject: Subject = SUBJECT): PartLine[] =>
  partLinesOf({
    ...subject,
    workloadForm: JSON.parse(JSON.stringify(storedForm(subject.workloadForm))) as OperationWork,
  });

/** Ada on her machine. */
export const ORIGIN = { createdBy: 'ada', machine: 'host-1', tool: '0.2.0' };

export interface ClaimChange {
  readonly subject?: Subject;
  readonly configuration?: Configuration;
  readonly evidence?: Partial<ClaimLine['evidence']>;
  readonly origin?: Partial<typeof ORIGIN>;
  readonly createdAt?: string;
}

/** A claim of Ada. The default configuration has no gain. */
export function claimOf({
  subject = SUBJECT,
  configuration = TILE,
  evidence,
  origin,
  createdAt = '2026-01-31T08:00:00.000Z',
}: ClaimChange = {}): ClaimLine {
  const gain = configuration.kind === DEFAULT_CONFIGURATION.kind ? { ratio: 1, low: 1, high: 1 } : {};
  return claimLineOf({
    ...keysOf(subject),
    configuration,
    evidence: { ...gain, ...evidence },
    createdAt,
    ...ORIGIN,
    ...origin,
  });
}

export const markOf = (change: Partial<MarkLine> = {}): MarkLine => markLineOf({ ...ORIGIN, ...change });

export const trialOf = (n: number, change: Partial<TrialLine> = {}): TrialLine =>
  trialLineOf({ id: n.toString(16).padStart(32, '0'), ...ORIGIN, runs: [], ...change });

export const revocationOf = (scope: RevocationLine['scope'], value: string): RevocationLine =>
  revocationLineOf({ scope, value, createdBy: 'ada' });

/** The question of a build with one workload. */
export const QUESTION = { ...keysOf(SUBJECT), workloads: [SUBJECT.workload] };

export const ofType = <T extends Line['type']>(lines: readonly Line[], type: T) =>
  lines.filter((line): line is Line & { type: T } => line.type === type);

/** All lines that a full pull returns. */
export async function everything(team: Team): Promise<readonly Line[]> {
  const page = await given(team.pull({ target: SUBJECT.target, compiler: SUBJECT.compiler }, null, LONG));
  return page.lines;
}
