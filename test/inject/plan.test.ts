import { applyInsertions, parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { classify, isDecision, passedOver, type Decision } from '../../src/decision/decision.ts';
import { planInjection } from '../../src/inject/plan.ts';
import { withTrailingFlags } from '../../src/inject/proof.ts';
import type { Configuration, TileConfiguration } from '../../src/space/configuration.ts';

const tile: TileConfiguration = {
  version: 1,
  kind: 'tile',
  distribution: [64, 64, 0],
  vectorCommonParallel: [8, 32, 0],
  vectorReduction: [0, 0, 4],
  peeling: true,
};
const operation = (attributes = '') =>
  `%r = linalg.matmul ${attributes} ins(%x, %y : tensor<8x4xf32>, tensor<4x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>\n`;

function decide(text: string, configurations: (Configuration | null)[]): Decision[] {
  return classify(parse(Buffer.from(text)).operations, {}).map((tunable, i) => {
    if (isDecision(tunable)) return tunable;
    const configuration = configurations[i] ?? null;
    if (configuration === null) return passedOver(tunable.site, tunable, 'default', 'no record');
    return {
      site: tunable.site,
      tunable,
      outcome: 'hit',
      reason: '',
      configuration,
      evidence: null,
    };
  });
}
const options = {
  wanted: 'auto',
  release: [3, 13, 0],
  dataTiling: false,
  ownPreprocessing: false,
  ownPipeline: false,
} as const;
const best: Configuration = { version: 1, kind: 'default' };
const dataTile: Configuration = { version: 1, kind: 'data-tile' };

describe('the route', () => {
  test('is none when nothing beats the default', () => {
    expect(planInjection(decide(operation() + operation(), [best, null]), options).route).toBe('none');
  });
  test('is a tuning spec by default, with equal entries only once', () => {
    const injection = planInjection(decide(operation() + operation(), [tile, tile]), options);
    if (injection.route !== 'spec') throw new Error(injection.route);
    expect(injection.text.match(/named_sequence @match_/g)).toHaveLength(1);
  });
  test.each<[string, Decision[], object, string]>([
    [
      'inline for compilers without tuning specs on CPUs',
      decide(operation(), [tile]),
      { release: [3, 10, 0] },
      'inline',
    ],
    ['preprocessing beside data tiling', decide(operation(), [tile]), { dataTiling: true }, 'preprocess'],
    [
      'inline beside data tiling and a preprocessing spec of the user',
      decide(operation(), [tile]),
      { dataTiling: true, ownPreprocessing: true },
      'inline',
    ],
    [
      'preprocessing beside a pipeline of the user',
      decide(operation(), [tile]),
      { ownPipeline: true },
      'preprocess',
    ],
    ['preprocessing where data tiling wins', decide(operation(), [dataTile]), {}, 'preprocess'],
    [
      'inline for operations of one form that want different things',
      decide(operation() + operation(), [tile, best]),
      {},
      'inline',
    ],
    [
      'inline for a neighbour with a configuration of its own',
      decide(operation() + operation('{lowering_config = #a.b<c>}'), [tile]),
      {},
      'inline',
    ],
  ])('is %s', (_, decisions, change, route) => {
    expect(planInjection(decisions, { ...options, ...change }).route).toBe(route);
    const insisted = planInjection(decisions, { ...options, ...change, wanted: 'spec' });
    expect(insisted).toMatchObject({ route: 'none', reason: expect.stringMatching(/./) as string });
  });
  test('leaves out what no route can bring rather than everything', () => {
    const other = operation().replaceAll('8x', '9x');
    const decisions = decide(operation() + other, [dataTile, tile]);
    const injection = planInjection(decisions, { ...options, ownPreprocessing: true });
    if (injection.route !== 'spec') throw new Error(injection.route);
    expect(injection.text).toContain('dims_equal %m, [9]');
    expect(injection.text).not.toContain('dims_equal %m, [8]');
  });
  test('asks for data tiling where it wins, and keeps it from the rest', () => {
    const other = operation().replaceAll('8x', '9x');
    const injection = planInjection(decide(operation() + other, [dataTile, tile]), options);
    if (injection.route !== 'preprocess') throw new Error(injection.route);
    expect(injection.dataTiling).toBe(true);
    expect(injection.text.match(/annotate %op "[^"]*"/g)).toEqual([
      'annotate %op "iree.opt.data_tiling"',
      'annotate %op "compilation_info"',
    ]);
    expect(injection.text).toContain('["util.return"]');
    const without = planInjection(decide(other, [tile]), { ...options, wanted: 'preprocess' });
    expect(without).toMatchObject({ route: 'preprocess', dataTiling: false });
    expect('text' in without && without.text).not.toContain('util.return');
  });
  test('brings the tiles of packed operations in a tuning spec of their own, unless the user has a pipeline', () => {
    const packed = { inner: [16, 16, 1], swapped: false, distribution: [1, 1] } as const;
    const decisions = decide(operation() + operation(), [
      { version: 1, kind: 'data-tile', packed },
      { version: 1, kind: 'data-tile', packed },
    ]);
    const text = (ownPipeline: boolean) => {
      const injection = planInjection(decisions, { ...options, ownPipeline });
      return injection.route === 'preprocess' ? injection.packed : undefined;
    };
    expect(text(false)?.match(/named_sequence @match_/g)).toHaveLength(1);
    expect(text(false)).toContain('%first = tensor<1x4x16x1xf32>');
    expect(text(true)).toBeNull();
    expect(planInjection(decide(operation(), [dataTile]), options)).toMatchObject({ packed: null });
  });
  test('says the pipeline in the words of the compiler', () => {
    const text = (release: readonly [number, number, number]) => {
      const injection = planInjection(decide(operation(), [tile]), { ...options, release });
      return injection.route === 'spec' ? injection.text : '';
    };
    const peel = ', {enable_loop_peeling}>>';
    expect(text([3, 11, 0])).toContain(`pipeline = CPUDoubleTilingExpert${peel}`);
    expect(text([3, 12, 0])).toContain(`pipeline = #iree_cpu.pipeline<DoubleTilingExpert>${peel}`);
    expect(text([0, 0, 0])).toBe(text([3, 13, 0]));
  });
});

test('inline edits are sorted insertions without which the text is the original', () => {
  const text = operation() + operation('{foo}');
  const injection = planInjection(decide(text, [tile, tile]), { ...options, wanted: 'inline' });
  if (injection.route !== 'inline') throw new Error(injection.route);
  let edited = applyInsertions(Buffer.from(text), injection.insertions);
  expect(
    parse(edited).operations.map(({ attributes }) =>
      attributes.some(({ name }) => name === 'compilation_info'),
    ),
  ).toEqual([true, true]);
  // Each insertion taken out again leaves the rest where it was.
  for (const { offset, text: inserted } of injection.insertions) {
    const end = offset + Buffer.byteLength(inserted);
    expect(Buffer.from(edited.subarray(offset, end)).toString()).toBe(inserted);
    edited = Buffer.concat([edited.subarray(0, offset), edited.subarray(end)]);
  }
  expect(Buffer.from(edited).toString()).toBe(text);
});

test('flags at the end of a command stay before what is positional', () => {
  expect(withTrailingFlags(['a.mlir'], ['--x'])).toEqual(['a.mlir', '--x']);
  expect(withTrailingFlags(['-o', 'b', '--', '-a.mlir'], ['--x'])).toEqual([
    '-o',
    'b',
    '--x',
    '--',
    '-a.mlir',
  ]);
});
