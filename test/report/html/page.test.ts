// The text and the data of a page, without a browser.
import { gunzipSync } from 'node:zlib';
import { parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../../src/backend/configuration.ts';
import { curveOf } from '../../../src/report/html/curves.ts';
import type { PageData } from '../../../src/report/html/data.ts';
import { factsOf } from '../../../src/report/html/facts.ts';
import { driftPairs, pageDataOf, type ReportSource } from '../../../src/report/html/model.ts';
import { pageText } from '../../../src/report/html/page.ts';
import { plain, shellWord } from '../../../src/report/html/plain.ts';
import { isWritable, programText } from '../../../src/report/html/program-text.ts';
import { classOf, shapeOf } from '../../../src/report/html/shape-name.ts';
import { flagsOf } from '../../../src/report/html/tasks.ts';
import { historyOf } from '../../../src/report/statistics.ts';
import type { Trial } from '../../../src/store/store.ts';
import { workloadKey, workloadOf } from '../../../src/workload/workload.ts';
import { TILE } from '../../store/samples.ts';
import { matmul, workload } from '../../support/workloads.ts';
import { hostile } from './hostile.ts';
import { dataOf, KERNELS, LOSSES, madeUp, MODELS, NO_ASSETS } from './made-up.ts';

const page = (data: PageData) => pageText(data, NO_ASSETS);
const sectionOf = (text: string, id: string) =>
  new RegExp(`<section id="${id}".*?</section>`, 's').exec(text)![0];
const NOTHING: Partial<ReportSource> = { misses: [], counts: {}, devices: [] };

describe('a page', () => {
  test('has its data, and main numbers that need no script', () => {
    const data = dataOf(50, { kernels: KERNELS, models: MODELS });
    const text = page(data);
    const [, packed] = /id="data">([^<]*)</.exec(text)!;
    expect(JSON.parse(gunzipSync(Buffer.from(packed!, 'base64')).toString())).toEqual(
      JSON.parse(JSON.stringify(data)),
    );
    const facts = factsOf(data);
    expect(facts).toMatchObject({ records: 50, places: expect.any(Number) as number });
    expect(facts.faster + facts.default + facts.failed).toBe(50);
    expect(text).toContain(`<dd>${facts.geometricMean!.toFixed(2)}×`);
    expect(sectionOf(text, 'gains')).toContain(`${facts.faster} records of 50 are faster`);
  });

  test('loads nothing', () => {
    const text = page(dataOf(5));
    expect(text).toMatch(
      /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[\w+/]{43}='/,
    );
    expect(text).not.toMatch(/(?:src|href)="(?!#)/);
  });

  test('refuses a script that would end its element', () => {
    expect(() => pageText(dataOf(1), { script: 'a = "</script>"', style: '' })).toThrow('own element');
  });

  test('has neither markup nor invisible characters of a database', () => {
    const data = pageDataOf(hostile());
    const text = page(data);
    expect(text.match(/<script/g)).toHaveLength(2);
    expect(text).not.toMatch(/<img|<style>body|caught'<|[\u202a-\u202e\u2066-\u2069\u200b]/);
    expect(/\p{Cc}/u.exec(text.replaceAll('\n', ''))).toBeNull();
    expect(JSON.stringify(data)).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]|\\u0000|\\u001b/);
    // Commands are for a shell, so no name is in them.
    for (const { command, programCommand } of data.tasks)
      expect(`${command} ${programCommand}`).not.toMatch(/caught|\$\(|`|javascript|--iree-x/);
    const texts = data.records.flatMap((one) => [one.key, one.configuration, one.author, one.failure ?? '']);
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(2000);
  });
});

describe('lost time', () => {
  const rates = { bytesPerSecond: 1e9, cache: null, multiplicationsPerSecond: { f32: 1e9 } };

  test('of a program has its sums, its dispatches with their groups, and its place', () => {
    const data = dataOf(3, { losses: LOSSES });
    const [one] = data.losses;
    expect(one).toMatchObject({ name: 'model.mlir', lostSeconds: 1e-3, outsideSeconds: 2e-3 });
    expect(data.places[one!.place]).toMatchObject({ device: 'a device', compiler: '3.13.0@abc' });
    expect(one!.dispatches).toMatchObject([
      { group: 'softmax or reduction', share: 0.5 },
      { group: 'other dispatches', share: null, unknown: 'its work is not read' },
    ]);
    expect(one!.sums).toContain('Outside of dispatches: 2.00 ms');
    expect(sectionOf(page(data), 'lost')).toContain('says nothing about its speed');
  });

  test('of a record needs the rates of its place', () => {
    const [known, unknown] = [dataOf(50, { ratesOf: () => rates }), dataOf(50)];
    expect(unknown.records.every(({ bound }) => bound === null)).toBe(true);
    const { flops, bytes, bound } = known.records.find(({ key }) => key.includes(' f32,f32->f32 '))!;
    expect(bound! / (Math.max(flops! / 2, bytes!) / 1e9)).toBeCloseTo(1, 2);
    expect(known.records.find(({ key }) => key.includes(' i8,i8->i32 '))!.bound).toBeNull();
  });
});

describe('missing data comes with its command', () => {
  test('in an empty database', () => {
    const text = page(dataOf(0, NOTHING));
    for (const id of ['gains', 'shapes', 'roofline', 'lost', 'records', 'searches', 'builds', 'programs'])
      expect(sectionOf(text, id)).toMatch(/<div class="missing"><p>.+<pre /s);
    expect(text).not.toContain('data-draw');
    expect(text).toContain('iree-tuned tune model.mlir');
    expect(factsOf(dataOf(0, NOTHING))).toMatchObject({
      records: 0,
      geometricMean: null,
      best: null,
      seconds: null,
    });
  });

  test('with one record, without trials, statistics or benchmarks', () => {
    const text = page(dataOf(1, { ...NOTHING, trialsOf: () => [] }));
    expect(sectionOf(text, 'gains')).toContain('data-draw');
    expect(sectionOf(text, 'searches')).toMatch(/have no trials.*iree-tuned tune model\.mlir --again/s);
    expect(sectionOf(text, 'builds')).toContain('iree-tuned stats');
    expect(sectionOf(text, 'drift')).toContain('one compiler');
    expect(sectionOf(text, 'shapes')).toContain('npm run bench:kernels -- --json kernels.json');
    expect(sectionOf(text, 'programs')).toContain('npm run bench:models -- --json models.json');
  });

  test('with compiles that were counted without their days', () => {
    const text = page(dataOf(1, { counts: { compiles: 3, 'operations: hit': 2 } }));
    expect(sectionOf(text, 'builds')).toMatch(/3 compiles found 100%.*An earlier version counted/s);
  });

  test('with a default that is best, and with a failed record', () => {
    const { source } = madeUp(1);
    const [record] = source.records;
    const [best, failed] = [
      { ...record!, configuration: DEFAULT_CONFIGURATION },
      { ...record!, failure: 'slower' },
    ];
    expect(page(pageDataOf({ ...source, records: [best] }))).toContain(
      'nothing is faster than the default yet',
    );
    const facts = factsOf(pageDataOf({ ...source, records: [failed] }));
    expect(facts).toMatchObject({ failed: 1, seconds: null });
  });
});

describe('commands to copy', () => {
  const forms = [
    matmul(8, 16, 4),
    matmul(8, 16, 4, ['f16', 'f16', 'f32']),
    matmul(5, 7, 3, ['i8', 'i8', 'i32']),
    { ...matmul(8, 16, 4), constantRhs: true },
    workload({ batch: 2, m: 8, n: 16, k: 4 }),
    workload({ m: 8, k: 4 }),
    { ...matmul(8, 16, 4), rhs: { elementType: 'f32', dimensions: [1, 2] } },
  ];
  test('have a program with the open workloads', () => {
    const { operations, problems } = parse(Buffer.from(programText(forms)));
    expect(problems).toEqual([]);
    const found = operations.map((operation) => {
      const form = workloadOf(operation);
      return 'skipped' in form ? form.skipped : workloadKey(form.workload);
    });
    expect(found).toEqual(forms.map(workloadKey));
  });

  test('need the program if sizes are not enough', () => {
    const inPlace = { ...matmul(8, 8, 8), context: { digest: '0123456789abcdef' } };
    expect(isWritable(inPlace)).toBe(false);
    const { source } = madeUp(1);
    const subject = { ...source.subjectOf(source.records[0]!)!, workloadForm: inPlace };
    const { tasks } = pageDataOf({ ...source, subjectOf: () => subject, misses: [{ ...source.misses[0]! }] });
    expect(tasks.find(({ kind }) => kind === 'missing')).toMatchObject({ command: null, covered: 0 });
  });

  test('measure on the device of the records', () => {
    const { tasks, places } = dataOf(60);
    for (const { place, programCommand } of tasks)
      expect(programCommand).toMatch(
        places[place]!.device.includes(' local-sync ')
          ? /^iree-tuned --device local-sync tune /
          : /^iree-tuned tune /,
      );
    const { source } = madeUp(1);
    const subject = source.subjectOf(source.records[0]!)!;
    const deviceForm = { ...(subject.deviceForm as object), driver: 'x; touch caught' };
    const { tasks: hostileTasks } = pageDataOf({ ...source, subjectOf: () => ({ ...subject, deviceForm }) });
    expect(hostileTasks[0]!.programCommand).toMatch(/^iree-tuned tune /);
  });

  test('have no file and only flags of the compiler', () => {
    expect(
      flagsOf({
        candidateFlags: [
          '--iree-llvmcpu-target-cpu=znver4',
          ...[
            '-x',
            '--iree-plugin=/tmp/evil.so',
            '--iree-a=$(b)',
            '--iree-c=d\ne',
            7,
            '--iree-opt-data-tiling',
          ],
        ],
      }),
    ).toEqual(['--iree-llvmcpu-target-cpu=znver4', '--iree-opt-data-tiling']);
    expect([flagsOf(null), flagsOf({ candidateFlags: 'x' })]).toEqual([[], []]);
  });

  test('quote characters of the shell', () => {
    expect([shellWord('m=5'), shellWord("a b'c$d")]).toEqual(['m=5', `'a b'\\''c$d'`]);
  });
});

test('invisible characters are shown, and long texts are cut', () => {
  expect(plain('a\u202eb\u0007c\ud800')).toBe('a\ufffdb\ufffdc\ufffd');
  expect(plain('abcdef', 4)).toBe('abc…');
  expect(plain('ünï 矩阵 עברית')).toBe('ünï 矩阵 עברית');
});

test.each([
  ['contraction m=997 n=997 k=997 f32,f32->f32 mk,kn->mn', '997×997×997', 'other sizes'],
  [
    'contraction b=8 m=64 n=64 k=64 f16,f16->f32 bmk,bkn->bmn',
    '8·64×64×64 f16→f32',
    'all sizes multiples of 16',
  ],
  ['contraction m=1 n=4096 k=4096 i8,i8->i32 mk,kn->mn', '1×4096×4096 i8→i32', 'matrix × vector'],
  ['contraction m=4096 k=4096 f32,f32->f32 mk,k->m', '4096×4096', 'matrix × vector'],
  [
    'contraction m=4 n=4096 k=4096 f32,f32->f32 mk,kn->mn in=0123456789abcdef',
    '4×4096×4096 in place',
    'thin: 16 or fewer rows or columns',
  ],
  ['contraction m=?(1,16) n=64 k=64 f32,f32->f32 mk,kn->mn', '?×64×64', 'dynamic sizes'],
  ['dispatch softmax_6x15x15xf32 in=0123', 'dispatch softmax_6x15x15xf32 in=0123', 'softmax or reduction'],
  ['dispatch conv_8x8x3x3_f32 in=0123', 'dispatch conv_8x8x3x3_f32 in=0123', 'convolution'],
  ['dispatch elementwise_9x9_f32 in=0123', 'dispatch elementwise_9x9_f32 in=0123', 'element-wise'],
  ['dispatch transpose_9x9_f32 in=0123', 'dispatch transpose_9x9_f32 in=0123', 'transpose or copy'],
  ['dispatch generic_9x9_f32 in=0123', 'dispatch generic_9x9_f32 in=0123', 'other dispatches'],
])('%s is called %s', (key, name, kind) => {
  expect([shapeOf(key), classOf(key)]).toEqual([name, kind]);
});

describe('searches', () => {
  const trial = (ratio: number | null, outcome: Trial['outcome'] = 'measured'): Trial => ({
    ...{ configuration: TILE, outcome, seconds: ratio && 1, ratio, message: null, strategy: 'descent' },
  });
  test('have the steps of the best result', () => {
    const base = { ...trial(1), configuration: DEFAULT_CONFIGURATION };
    const trials = [base, trial(0.9), trial(1.5), trial(null, 'timeout'), trial(1.2), trial(2)];
    expect(curveOf(3, trials)).toEqual({
      ...{ record: 3, measured: 4, failed: { timeout: 1 } },
      steps: [
        [2, 1.5],
        [5, 2],
      ],
    });
  });
  test('have no curve if only the default was timed', () => {
    expect(curveOf(0, [{ ...trial(1), configuration: DEFAULT_CONFIGURATION }])).toBeNull();
  });
});

describe('drift', () => {
  test('is between successive compilers, by version', () => {
    const { source } = madeUp(1);
    const of = (compiler: string, change = {}) => ({ ...source.records[0]!, compiler, ...change });
    const records = [
      of('3.10.0@b'),
      of('3.9.1@a'),
      of('3.11.0@c', { failure: 'slower: no' }),
      of('3.12.0rc1@d'),
      of('3.12.0@e', { device: 'another' }),
    ];
    expect(driftPairs(records)).toEqual([
      { before: 1, after: 0 },
      { before: 0, after: 3 },
    ]);
  });
});

test('days are in order, and counts without a day are left out', () => {
  const days = historyOf({
    ...{ compiles: 9, '2026-02-01 compiles': 2, '2026-01-31 compiles': 1, '2026-01-31 operations: hit': 3 },
    '2026-02-01 skipped: x': 1,
  });
  expect(days.map(({ day, statistics }) => [day, statistics.compiles.all, statistics.hitRate])).toEqual([
    ['2026-01-31', 1, 1],
    ['2026-02-01', 2, null],
  ]);
});
