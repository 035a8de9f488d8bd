// A team's server with roles and tables, and sample lines.
import { onTestFinished } from 'vitest';
import { DEFAULT_CONFIGURATION, type Configuration } from '../../src/backend/configuration.ts';
import { CONFIDENCE, digestOf, EVIDENCE_VERSION } from '../../src/store/claim.ts';
import type { ClaimLine, Line, MarkLine, PartLine, TrialLine } from '../../src/store/exchange/lines.ts';
import { storedForm } from '../../src/workload/workload.ts';
import type { RecordKey, Subject } from '../../src/store/store.ts';
import { readAddress } from '../../src/team/address.ts';
import { openConnection } from '../../src/team/connection.ts';
import { migrateTeam } from '../../src/team/migrate.ts';
import { openTeam } from '../../src/team/postgres.ts';
import { ROLES_SQL } from '../../src/team/roles.ts';
import type { Answer, Team } from '../../src/team/team.ts';
import { EVIDENCE, SUBJECT, subjectOf, TILE } from '../store/samples.ts';
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

export const partsOf = (subject: Subject = SUBJECT): PartLine[] => [
  {
    type: 'workload',
    version: 1,
    key: subject.workload,
    form: JSON.parse(JSON.stringify(storedForm(subject.workloadForm))) as unknown,
  },
  { type: 'target', version: 1, key: subject.target, form: subject.targetForm },
  { type: 'device', version: 1, key: subject.device, form: subject.deviceForm },
  { type: 'compiler', version: 1, key: subject.compiler, form: subject.compilerForm },
];

const keysOf = ({ workload, target, device, compiler }: RecordKey): RecordKey => ({
  workload,
  target,
  device,
  compiler,
});

export const ORIGIN = { createdBy: 'ada', machine: 'host-1', tool: '0.2.0' };

export interface ClaimChange {
  readonly subject?: Subject;
  readonly configuration?: Configuration;
  readonly evidence?: Partial<ClaimLine['evidence']>;
  readonly origin?: Partial<typeof ORIGIN>;
  readonly createdAt?: string;
}

export function claimOf({ subject = SUBJECT, configuration = TILE, ...change }: ClaimChange = {}): ClaimLine {
  const decided = configuration.kind === DEFAULT_CONFIGURATION.kind ? { ratio: 1, low: 1, high: 1 } : {};
  const claim = {
    type: 'claim' as const,
    version: 1 as const,
    ...keysOf(subject),
    configuration,
    evidence: {
      version: EVIDENCE_VERSION,
      confidence: CONFIDENCE,
      ...EVIDENCE,
      ...decided,
      ...change.evidence,
    },
    createdAt: change.createdAt ?? '2026-01-31T08:00:00.000Z',
    ...ORIGIN,
    ...change.origin,
  };
  return { ...claim, digest: digestOf(claim) };
}

export const markOf = (change: Partial<MarkLine> = {}): MarkLine => ({
  type: 'mark',
  version: 1,
  ...keysOf(SUBJECT),
  configuration: TILE,
  generation: 0,
  kind: 'compile-error',
  reason: 'in.mlir:2:3: error: no such thing',
  createdAt: '2026-02-01T08:00:00.000Z',
  ...ORIGIN,
  ...change,
});

export const trialOf = (n: number, change: Partial<TrialLine> = {}): TrialLine => ({
  type: 'trial',
  version: 1,
  ...keysOf(SUBJECT),
  id: n.toString(16).padStart(32, '0'),
  configuration: TILE,
  outcome: 'measured',
  seconds: 0.5,
  ratio: 2,
  message: null,
  strategy: 'descent',
  createdAt: '2026-02-01T08:00:00.000Z',
  ...ORIGIN,
  runs: [],
  ...change,
});

/** All lines that a full pull returns. */
export async function everything(team: Team): Promise<readonly Line[]> {
  const page = await given(team.pull({ target: SUBJECT.target, compiler: SUBJECT.compiler }, null, LONG));
  return page.lines;
}
