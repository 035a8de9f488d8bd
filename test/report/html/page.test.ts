// The text and the data of a page, without a browser.
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../../src/backend/configuration.ts';
import type { PageData } from '../../../src/report/html/data.ts';
import { pageDataOf, type ReportSource } from '../../../src/report/html/model.ts';
import { pageText } from '../../../src/report/html/page.ts';
import { factsOf } from '../../../src/report/html/sections.ts';
import { classOf, plain, shapeOf } from '../../../src/report/html/texts.ts';
import { NO_RATES, type DeviceRates } from '../../../src/report/loss.ts';
import type { TuningRecord } from '../../../src/store/store.ts';
import { hostile } from './hostile.ts';
import { dataOf, LOSSES, madeUp, NO_ASSETS } from './made-up.ts';

const page = (data: PageData) => pageText(data, NO_ASSETS);
const sectionOf = (text: string, id: string) =>
  new RegExp(`<section id="${id}".*?</section>`, 's').exec(text)![0];
const NOTHING: Partial<ReportSource> = { devices: [] };

describe('a page', () => {
  test('has its data, and main numbers that need no script', () => {
    const data = dataOf(50);
    const text = page(data);
    const [, packed] = /id="data">([^<]*)</.exec(text)!;
    expect(JSON.parse(gunzipSync(Buffer.from(packed!, 'base64')).toString())).toEqual(
      JSON.parse(JSON.stringify(data)),
    );
    const facts = factsOf(data);
    expect(facts).toMatchObject({ records: 50, places: expect.any(Number) as number });
    expect(facts.faster + facts.default + facts.failed).toBe(50);
    expect(text).toContain(`<dd>${facts.geometricMean!.toFixed(2)}×`);
    expect(sectionOf(text, 'gains')).toContain(
      `default: ${facts.faster} records. The default is best: ${facts.default}.`,
    );
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
    const lengths = data.records.flatMap(({ workload, createdBy, failure }) =>
      [workload, createdBy, failure ?? ''].map((text) => text.length),
    );
    expect(Math.max(...lengths)).toBe(2000);
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
    expect(one!.summary).toContain('Outside of dispatches: 2.00 ms');
    expect(sectionOf(page(data), 'lost')).toContain('says nothing about its speed');
  });

  test('of a record needs the rates of its place', () => {
    const recordsWith = (own: DeviceRates) => dataOf(50, { ratesOf: () => own }).records;
    expect(recordsWith(NO_RATES).every(({ bound }) => bound === null)).toBe(true);
    const [floats, bytes] = [' f32,f32->f32 ', ' i8,i8->i32 '].map((types) =>
      recordsWith(rates).find(({ workload }) => workload.includes(types))!,
    );
    expect(floats!.bound! / (Math.max(floats!.flops! / 2, floats!.bytes!) / 1e9)).toBeCloseTo(1, 2);
    expect(bytes!.bound).toBeNull();
  });
});

describe('missing data comes with its command', () => {
  test('in an empty database', () => {
    const text = page(dataOf(0, NOTHING));
    for (const id of ['gains', 'roofline', 'lost', 'records'])
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

  test('without measured limits', () => {
    const text = sectionOf(page(dataOf(1, { ratesOf: () => NO_RATES })), 'roofline');
    expect(text).toMatch(/iree-tuned profile model\.mlir.*data-draw/s);
    expect(sectionOf(page(dataOf(50)), 'roofline')).not.toContain('iree-tuned profile');
  });

  test('with a default that is best, and with a failed record', () => {
    const source = madeUp(1);
    const dataWith = (change: Partial<TuningRecord>) =>
      pageDataOf({ ...source, records: [{ ...source.records[0]!, ...change }] });
    const best = dataWith({ configuration: DEFAULT_CONFIGURATION });
    expect(page(best)).toContain('nothing is faster than the default yet');
    expect(factsOf(dataWith({ failure: 'slower' }))).toMatchObject({ failed: 1, seconds: null });
  });
});

test('invisible characters are shown, and long texts are cut', () => {
  expect(plain('a\u202eb\u0007c\ud800')).toBe('a<U+202E>b<U+0007>c<U+D800>');
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
