// Thousands of hostile rows: in the database, as lines to import, and in a team's base. Builds stay the same, no command
// crashes, and commands report the ignored rows.
// In full after a change of src/store/validate.ts, src/store/exchange.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { headText } from '../../src/base/head.ts';
import { compact } from '../../src/store/sqlite/compact.ts';
import { SCHEMA_VERSION } from '../../src/store/sqlite/migrate.ts';
import { EVIDENCE_VERSION } from '../../src/store/claim.ts';
import type { Subject } from '../../src/store/store.ts';
import { keysOf } from '../../src/store/subject.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isFull } from '../support/needs.ts';
import { claimLineOf, markLineOf, trialLineOf } from '../store/exchange/samples.ts';
import { TILE } from '../store/samples.ts';
import { recordedWorkplace, workplace } from './faults/support.ts';
import { type Workplace, argv } from './support.ts';

/** The seed of every run. */
const SEED = 20260131;

/** Number of rows. The full tier has ten times as many. */
const HUNDREDS = isFull ? 100 : 4;
const countsOf = <Kind extends string>(ofHundred: Readonly<Record<Kind, number>>): Record<Kind, number> =>
  Object.fromEntries(
    Object.entries<number>(ofHundred).map(([kind, count]) => [kind, HUNDREDS * count]),
  ) as Record<Kind, number>;

/** Number of rows of each kind, per hundred. */
const COUNTS = {
  'rows of the database': countsOf({ claim: 24, mark: 10, trial: 9, run: 4, revocation: 3 }),
  'lines to import': countsOf({ claim: 12, mark: 7, trial: 5, revocation: 3, part: 2, text: 1 }),
};

const TEXTS = [
  '',
  'null',
  '{',
  `'); DROP TABLE claim; --`,
  `" OR 1=1; ATTACH DATABASE '/etc/passwd' AS x; --`,
  '#iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<distribution = [1]>>',
  'module { util.func @f() { "x"() : () -> () } }',
  '--iree-llvmcpu-link-embedded=false',
  '\u001b[2J\u0007',
  '$(touch pwned)',
  'x'.repeat(70_000),
] as const;
const text = fc.constantFrom(...TEXTS);
const hostileNumber = fc.constantFrom(-1, -0, 0, Infinity, -Infinity, 1e308, -1e308, 5e-324);

/** Invalid configurations: other knobs, other tiles, other text. */
const strangeConfiguration = fc
  .tuple(
    fc.nat(),
    fc.oneof<fc.Arbitrary<object>[]>(
      text.map((mlir) => ({ ...TILE, mlir })),
      text.map((kind) => ({ version: 1, kind: kind || 'tile' })),
      fc.integer({ min: -(2 ** 40), max: -1 }).map((size) => ({ ...TILE, distribution: [size, 128, 0] })),
      fc.integer({ min: 2 ** 30, max: 2 ** 40 }).map((size) => ({ ...TILE, vectorReduction: [0, 0, size] })),
      fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 4, maxLength: 40 }).map((tiles) => ({
        ...TILE,
        distribution: tiles,
      })),
      text.map((peeling) => ({ ...TILE, peeling })),
      fc.integer({ min: 2, max: 2 ** 31 }).map((version) => ({ ...TILE, version })),
    ),
  )
  .map(([salt, strange]) => ({ ...strange, salt }));

/** A valid configuration without rows. */
const soundConfiguration = fc
  .record({
    distribution: fc.tuple(
      fc.integer({ min: 1, max: 512 }),
      fc.integer({ min: 1, max: 512 }),
      fc.constant(0),
    ),
  })
  .map((tiles) => ({ ...TILE, ...tiles }));

const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number, salt: number): T[] =>
  fc.sample(arbitrary, { numRuns: count, seed: SEED + salt });

/** Evidence that would beat every record. */
const TEMPTING = {
  ...{
    version: EVIDENCE_VERSION,
    confidence: 0.99,
    ratio: 9e5,
    low: 8e5,
    high: 1e6,
    default_seconds: 1,
    seconds: 1e-6,
  },
  ...{ processes: 90_000, repetitions: 1e6, noise_floor: 0, max_error: 0, trials: 1, tuning_seconds: 1 },
  ...{ families: '["data-tile","tile"]', complete: 1, created_at: '2026-01-31T08:00:00Z' },
  ...{ created_by: 'eve', machine: 'eve', tool: '0.1.0' },
};
type Row = Readonly<Record<string, unknown>>;

const wrongEvidence: fc.Arbitrary<Row> = fc.oneof(
  fc
    .tuple(fc.constantFrom('ratio', 'low', 'high', 'default_seconds', 'seconds'), hostileNumber)
    .filter(([, value]) => !(value > 0 && value < 1e300))
    .map(([name, value]) => ({ [name]: value === 5e-324 || value === 1e308 ? -1 : value })),
  fc.constantFrom('noise_floor', 'max_error', 'tuning_seconds').map((name) => ({ [name]: -Infinity })),
  fc.constantFrom('processes', 'repetitions').map((name) => ({ [name]: -5n })),
  fc.constant({ low: 1e6, ratio: 1 }),
  text
    .filter((one) => one.length < 9999)
    .map((families) => ({ families: families === 'null' ? '{}' : families })),
  text.map((created_at) => ({ created_at })),
);
const textsEverywhere = fc.record({ created_by: text, machine: text, tool: text });

/** An invalid claim: its evidence or its configuration is invalid. */
const claimRow = fc
  .oneof(
    fc.tuple(soundConfiguration, wrongEvidence, textsEverywhere),
    fc.tuple(strangeConfiguration, fc.constant({}), textsEverywhere),
  )
  .map(([configuration, wrong, texts]) => ({
    ...TEMPTING,
    ...texts,
    ...wrong,
    configuration: JSON.stringify(configuration),
  }));

/** An invalid mark, on the configuration of the build or on none. */
const markRow = fc
  .record({
    configuration: fc.oneof(
      fc.constant(JSON.stringify(TILE)),
      strangeConfiguration.map((one) => JSON.stringify(one)),
    ),
    kind: fc.oneof(text, fc.constantFrom('compile-error', 'lifted')),
    reason: text,
    texts: textsEverywhere,
    generation: fc.integer({ min: 0, max: 9 }),
    wrong: fc.boolean(),
  })
  .map(({ texts, wrong, ...mark }) => ({
    ...mark,
    ...texts,
    created_at: '2026-01-31T08:00:00Z',
    ...(wrong ? { created_at: 'now' } : { generation: 10n ** 15n + BigInt(mark.generation) }),
  }));

const trialRow = fc
  .record({ configuration: strangeConfiguration, message: text, strategy: text, texts: textsEverywhere })
  .map(({ configuration, texts, ...trial }) => ({
    ...{ configuration: JSON.stringify(configuration), outcome: 'measured', seconds: 1e-9, ratio: 1e9 },
    ...trial,
    ...texts,
    created_at: '2026-01-31T08:00:00Z',
  }));

const runRow = fc
  .record({
    stage: text,
    placement: text,
    seconds: fc.constantFrom('[]', '[-1]', '["x"]', '{', '[1e999]'),
    batch: fc.nat(99),
  })
  .map((run) => ({ ...run, build: 0, default_seconds: '[0]' }));

/** Invalid revocations. */
const revocationRow = fc.oneof(
  fc.record({
    scope: fc.constantFrom('tool', 'origin'),
    value: fc.constantFrom('0.1.0', 'a tester'),
    reason: text,
    created_at: fc.oneof(text, fc.constant('2026-99-99T99:99:99Z')),
  }),
  fc.record({ scope: text, value: text, reason: text, created_at: fc.constant('2026-01-31T08:00:00Z') }),
);

const hex = (n: number, digits: number) => n.toString(16).padStart(digits, '0');

/** Writes rows without checking constraints. */
function writeRows(place: Workplace): Record<string, number> {
  const db = new Database(place.database);
  db.pragma('ignore_check_constraints = ON');
  db.pragma('foreign_keys = OFF');
  const [subject] = db.prepare('SELECT subject FROM claim').pluck().all() as [number];
  const before = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  const insert = (table: string, rows: readonly Row[]) => {
    const begun = before(table);
    for (const row of rows) {
      const names = Object.keys(row);
      db.prepare(
        `INSERT OR IGNORE INTO ${table} (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`,
      ).run(row);
    }
    return before(table) - begun;
  };
  const counts = COUNTS['rows of the database'];
  const written = db.transaction(() => ({
    // Some rows are about the same configuration.
    claim: insert(
      'claim',
      sample(claimRow, counts.claim, 1).map((row, i) => ({ ...row, subject, digest: hex(i, 64) })),
    ),
    mark: insert(
      'mark',
      sample(markRow, counts.mark, 2).map((row, i) => ({ ...row, subject, tool: `${row.tool} ${i}` })),
    ),
    trial: insert(
      'trial',
      sample(trialRow, counts.trial, 3).map((row, i) => ({ ...row, subject, id: hex(i, 32) })),
    ),
    run: insert(
      'run',
      sample(runRow, counts.run, 4).map((row, i) => ({ ...row, trial: 1 + i })),
    ),
    revocation: insert(
      'revocation',
      sample(revocationRow, counts.revocation, 5).map((row, i) => ({ ...row, created_by: `eve ${i}` })),
    ),
  }))();
  db.close();
  return written;
}

/** The results that must not change. */
async function builtWith(place: Workplace) {
  const build = await place.explain(argv);
  expect({ code: build.code, stdout: build.stdout.toString(), stderr: build.stderr }).toEqual({
    ...{ code: 0, stdout: '', stderr: '' },
  });
  const { operations, route } = build.explanation;
  const decisions = operations.map(({ outcome, configuration }) => ({ outcome, configuration }));
  return { module: place.read('out.vmfb').toString('base64'), decisions, route };
}

/** Commands that read the whole database succeed, or fail with a message. */
async function ended(place: Workplace, ...words: string[]) {
  const { code, stdout, stderr } = await place.tuned(words);
  // No signal has ended it.
  expect(code).not.toBeNull();
  expect(stderr.replace(/^iree-tuned: [^\n]*\n/gm, '')).toBe('');
  expect(stdout.includes('\u001b')).toBe(false);
  return { code, said: stdout };
}

const subjectIn = (place: Workplace): Subject =>
  place.inStore((store) => store.subject([...store.allRecords(), ...store.misses()][0]!)!);

describe('a build with a record', { timeout: 300_000 }, () => {
  test('is the same after hostile rows in its database', async () => {
    const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
    const before = await builtWith(place);
    expect(before.decisions).toMatchObject([{ outcome: 'hit', configuration: TILE }]);
    const written = writeRows(place);
    for (const [table, count] of Object.entries(COUNTS['rows of the database']))
      expect([table, written[table]! > 0.9 * count]).toEqual([table, true]);
    expect(await builtWith(place)).toEqual(before);
    const { code, said } = await ended(place, 'doctor');
    expect(code).toBe(1);
    const named = Object.entries(written).map(([table, count]) => `${count.toLocaleString('en')} ${table}s`);
    expect(said).toContain(`invalid, and ignored: ${named.join(', ')}`);
    for (const words of [
      ['db', 'ls', '--json'],
      ['db', 'export', place.path('all.jsonl')],
    ])
      expect(await ended(place, ...words)).toMatchObject({ code: 0 });
    expect(place.has('pwned')).toBe(false);
    // The export has valid lines only, so that it can be imported into a new database.
    const other = workplace({ IREE_TUNED_BUDGET: '0' });
    expect(await ended(other, 'db', 'import', place.path('all.jsonl'))).toMatchObject({ code: 0 });
    expect((await builtWith(other)).decisions).toEqual(before.decisions);
  });

  test('is the same after an import of hostile lines', { tags: 'full' }, async () => {
    const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
    const before = await builtWith(place);
    const subject = subjectIn(place);
    const counts = COUNTS['lines to import'];
    const all = hostileLines(subject);
    writeFileSync(place.path('poison.jsonl'), all.join('\n'));
    const { said } = await ended(place, 'db', 'import', 'poison.jsonl', '--json');
    const { files } = JSON.parse(said) as {
      files: readonly [{ refused: number; kept: number; added: Record<string, number> }];
    };
    const [report] = files;
    expect(report.added['claim'] ?? 0).toBe(0);
    expect(report.added['mark'] ?? 0).toBe(0);
    const taken = Object.values(report.added).reduce((sum, count) => sum + count, 0);
    expect(taken).toBeLessThanOrEqual(counts.part);
    expect(report.refused + report.kept).toBeGreaterThan(0.9 * (all.length - counts.part));
    expect(await builtWith(place)).toEqual(before);
    expect(subjectIn(place)).toEqual(subject);
    const { code, said: doctor } = await ended(place, 'doctor');
    expect({ code, doctor }).toMatchObject({ code: 0 });
    expect(doctor).toContain(`${report.kept} lines of a later version, not read`);
  });
});

test('a build with hostile rows in its base is the same', { tags: 'full', timeout: 300_000 }, async () => {
  const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
  const before = await builtWith(place);
  const { target, compiler } = subjectIn(place);
  writeRows(place);
  compact(place.database);
  const database = place.read('data/tuning.db');
  const packed = gzipSync(database);
  const digest = createHash('sha256').update(packed).digest('hex');
  const file = `${'0'.repeat(16)}-${digest}.db.gz`;
  const folder = temporaryDirectory();
  writeFileSync(join(folder, file), packed);
  const sizes = {
    bytes: packed.length,
    size: database.length,
    content: '',
    schema: SCHEMA_VERSION,
    claims: 1,
  };
  const databases = [{ target, compiler, file, ...sizes }];
  writeFileSync(join(folder, 'head.json'), headText({ sequence: 1, time: '', databases }, null));
  const other = workplace({ IREE_TUNED_BUDGET: '0', IREE_TUNED_TEAM: folder });
  expect((await builtWith(other)).decisions).toEqual(before.decisions);
  expect(await ended(other, 'team', 'status')).toMatchObject({ code: 0 });
});

const bigintAsNumber = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);

/** Lines that a database must not take, or that change no decision. */
function hostileLines(subject: Subject): string[] {
  const keys = keysOf(subject);
  const counts = COUNTS['lines to import'];
  const configurations = fc.oneof(strangeConfiguration, soundConfiguration);
  const inLines = { defaultSeconds: 1, noiseFloor: 0, maxError: 0, tuningSeconds: 1, families: ['tile'] };
  const evidence = { ...TEMPTING, ...inLines };
  const lines: unknown[] = [
    // Their digests are wrong.
    ...sample(fc.tuple(configurations, wrongEvidence, textsEverywhere), counts.claim, 11).map(
      ([configuration, wrong, { created_by: createdBy, ...texts }]) => ({
        ...claimLineOf(keys),
        ...texts,
        ...{ createdBy, configuration, evidence: { ...evidence, ...wrong }, digest: 'e'.repeat(64) },
      }),
    ),
    ...sample(markRow, counts.mark, 12).map(
      ({ created_by: createdBy, configuration, kind, reason, machine, tool, generation }) => ({
        ...{ ...markLineOf(), ...keys, kind, reason, machine, tool, generation, createdBy, createdAt: 'now' },
        configuration: JSON.parse(configuration) as unknown,
      }),
    ),
    ...sample(trialRow, counts.trial, 13).map(({ configuration, message }, i) => ({
      ...trialLineOf({ ...keys, id: hex(i, 32), runs: [], seconds: -1, message }),
      configuration: JSON.parse(configuration) as unknown,
    })),
    ...sample(revocationRow, counts.revocation, 14).map(({ scope, value, reason }) => ({
      ...{ type: 'revocation', version: 1, scope, value, reason, createdAt: 'now', createdBy: 'eve' },
    })),
    // The import takes these lines: a description of a device changes no decision.
    ...sample(fc.tuple(fc.constantFrom('target', 'device', 'compiler'), text), counts.part, 15).map(
      ([type, said], i) => ({
        ...{ type, version: 1, key: keys[type as 'target'], form: { said: said.slice(0, 5000), i } },
      }),
    ),
  ];
  const texts = sample(fc.oneof(text, fc.json()), counts.text, 16).map((one) => one.replaceAll('\n', ' '));
  return [...lines.map((line) => JSON.stringify(line, bigintAsNumber)), ...texts];
}
