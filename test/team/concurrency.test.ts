// @module-tag slow
// Concurrent pushes and pulls lose no claim.
import { describe, expect, test } from 'vitest';
import { readAddress } from '../../src/team/address.ts';
import { openConnection } from '../../src/team/connection.ts';
import { migrateTeam, TEAM_SCHEMA_VERSION } from '../../src/team/migrate.ts';
import type { Cursor, Page } from '../../src/team/team.ts';
import { isWithout } from '../support/needs.ts';
import { testDatabase, whyNoPostgres } from '../support/postgres.ts';
import { claimOf, client, given, LONG, partsOf, SUBJECT, subjectOf, teamDatabase } from './support.ts';

const FILTER = { target: SUBJECT.target, compiler: SUBJECT.compiler };
const WRITERS = 24;
const PUSHES = 2;
const CLAIMS = 4;

describe.skipIf(isWithout(whyNoPostgres))('concurrent clients', () => {
  test('each claim arrives once, and every puller sees it', async () => {
    const database = await teamDatabase();
    const url = await database.login('somebody', { in: 'iree_tuned_writer' });
    const expected = new Set<string>();
    let writing = true;
    const write = async (writer: number) => {
      const team = client(url);
      for (let i = 0; i < PUSHES; i++) {
        const lines = Array.from({ length: CLAIMS }, (_, j) => {
          // All clients share some subjects. The first push creates their parts and origins.
          const subject = subjectOf(j === 0 ? i + 1 : 1000 * (writer + 1) + i * CLAIMS + j);
          return [
            ...partsOf(subject),
            claimOf({ subject, origin: { machine: `host-${writer}` }, evidence: { processes: 5 + writer } }),
          ];
        }).flat();
        for (const line of lines) if (line.type === 'claim') expected.add(line.workload);
        // On a busy machine a writer may wait for its turn longer than the server allows; clients then push again.
        let answer = await team.push(lines, LONG);
        while (!answer.ok && answer.failure.reason.includes('lock timeout'))
          answer = await team.push(lines, LONG);
        if (!answer.ok) throw new Error(answer.failure.reason);
      }
    };
    const pull = async () => {
      const team = client(url);
      const seen = new Map<string, number>();
      let cursor: Cursor | null = null;
      for (let last = false; ;) {
        const page: Page = await given(team.pull(FILTER, cursor, LONG));
        const { lines, cursor: next, ignored, restarted } = page;
        expect({ ignored, restarted }).toEqual({ ignored: 0, restarted: false });
        for (const line of lines) if (line.type === 'claim') seen.set(line.workload, line.evidence.processes);
        cursor = next;
        if (last) return seen;
        last = !writing;
      }
    };
    const pulled = Promise.all([pull(), pull(), pull()]);
    const written = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer))).finally(() => {
      writing = false;
    });
    const [everything] = await Promise.all([pulled, written]);
    const rows = await database.query(
      `SELECT w.key, c.processes FROM iree_tuned.claim AS c
       JOIN iree_tuned.subject AS s ON s.id = c.subject JOIN iree_tuned.workload AS w ON w.id = s.workload`,
    );
    expect(rows).toHaveLength(expected.size);
    expect(new Set(rows.map(({ key }) => key))).toEqual(expected);
    const stored = new Map(rows.map(({ key, processes }) => [key, processes]));
    for (const seen of everything) expect(seen).toEqual(stored);
    // The best of several claims wins.
    expect(stored.get(subjectOf(1).workload)).toBe(5 + WRITERS - 1);
  });

  test('two concurrent migrations create one schema', async () => {
    const database = await testDatabase();
    const migrated = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const connection = openConnection(readAddress(database.url), '');
        try {
          return (await migrateTeam(connection)).from;
        } finally {
          connection.close();
        }
      }),
    );
    expect(migrated.sort()).toEqual([0, TEAM_SCHEMA_VERSION, TEAM_SCHEMA_VERSION]);
  });
});
