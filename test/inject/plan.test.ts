import { applyInsertions, parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { passedOver, skipped, type Decision } from '../../src/decision/decision.ts';
import { classify, isTunable } from '../../src/input/operation.ts';
import { planInjection, type Injection, type InjectionOptions } from '../../src/inject/plan.ts';
import { withTrailingFlags } from '../../src/compiler/command.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import { because } from '../../src/system/reason.ts';
import { hit, OPTIONS } from './decisions.ts';
import { tiles } from '../support/backend.ts';

const tile = tiles([64, 64, 0], [8, 32, 0], [0, 0, 4], true);
const operation = (attributes = '') =>
  `%r = linalg.matmul ${attributes} ins(%x, %y : tensor<8x4xf32>, tensor<4x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>\n`;

function decide(text: string, configurations: (Configuration | null)[]): Decision[] {
  return classify(parse(Buffer.from(text)).operations, {}).map((tunable, i) => {
    if (!isTunable(tunable)) return skipped(tunable);
    const configuration = configurations[i] ?? null;
    if (configuration === null) return passedOver(tunable, 'default', because('no-record'));
    return hit(tunable, configuration);
  });
}
const planned = (decisions: readonly Decision[], change: Partial<InjectionOptions> = {}) =>
  planInjection(decisions, { ...OPTIONS, ...change });
/** The injection, which must go this way. */
function injectionBy<Route extends Injection['route']>(
  route: Route,
  decisions: readonly Decision[],
  change: Partial<InjectionOptions> = {},
): Extract<Injection, { route: Route }> {
  const injection = planned(decisions, change);
  expect(injection.route).toBe(route);
  return injection as Extract<Injection, { route: Route }>;
}
const best: Configuration = { version: 1, kind: 'default' };
const dataTile: Configuration = { version: 1, kind: 'data-tile' };

/** Decisions about generated operations, each in an executable of its own. */
const inExecutables = (decisions: readonly Decision[]): Decision[] =>
  decisions.map((decision, i) => ({
    ...decision,
    place: { ...decision.place, operation: null },
    tunable: decision.tunable && { ...decision.tunable, written: null, executables: [`dispatch_${i}`] },
  }));

describe('the route', () => {
  test('is none when nothing beats the default', () => {
    expect(planned(decide(operation() + operation(), [best, null]))).toEqual({
      route: 'none',
      ...because('no-gain'),
    });
  });
  test('a form with two configurations costs only its own operations, which executables tell apart', () => {
    const other = operation().replaceAll('16x', '32x').replaceAll('x16', 'x32');
    const decisions = inExecutables(decide(operation() + operation() + other, [tile, null, tile]));
    const injection = injectionBy('spec', decisions);
    expect(injection.text.match(/named_sequence @match_/g)).toHaveLength(1);
    expect(injection.entries).toMatchObject([{ executables: ['dispatch_0'] }]);
    expect(planned(decisions, { wanted: 'spec' }).route).toBe('none');
  });
  test('is a tuning spec by default, with equal entries only once', () => {
    const injection = injectionBy('spec', decide(operation() + operation(), [tile, tile]));
    expect(injection.text.match(/named_sequence @match_/g)).toHaveLength(1);
  });
  const TILED = 'a tuning spec and data tiling together break the compile';
  test.each<[route: Injection['route'], string, Partial<InjectionOptions>, reason: string]>([
    ['inline', 'without tuning specs on CPUs', { release: [3, 10, 0] }, 'tuning specs need IREE 3.11'],
    ['preprocess', 'with data tiling', { dataTiling: true }, TILED],
    ['inline', 'with data tiling and a user spec', { dataTiling: true, ownPreprocessing: true }, TILED],
    [
      'preprocess',
      'with a pipeline of the user',
      { ownPipeline: true },
      'the command has a preprocessing pipeline of its own',
    ],
  ])('is %s for a compile %s', (route, _, change, reason) => {
    const decisions = decide(operation(), [tile]);
    expect(planned(decisions, change).route).toBe(route);
    expect(planned(decisions, { ...change, wanted: 'spec' })).toEqual({
      route: 'none',
      ...because('no-route', reason),
    });
  });
  test.each<[route: Injection['route'], string, Decision[], reason: string]>([
    [
      'preprocess',
      'data tiling',
      decide(operation(), [dataTile]),
      'data tiling must be requested before code generation',
    ],
    [
      'inline',
      'operations of one form',
      decide(operation() + operation(), [tile, best]),
      'operations of the same form have different configurations',
    ],
    [
      'inline',
      'a neighbour with a configuration of its own',
      decide(operation() + operation('{lowering_config = #a.b<c>}'), [tile]),
      'the input has operations with configurations of their own',
    ],
  ])('is %s for %s', (route, _, decisions, reason) => {
    expect(planned(decisions).route).toBe(route);
    expect(planned(decisions, { wanted: 'spec' })).toEqual({ route: 'none', ...because('no-route', reason) });
  });
  test('never edits a large input, and says so', () => {
    const decisions = decide(operation() + operation('{lowering_config = #a.b<c>}'), [tile]);
    const large = { isWhole: false };
    expect(planned(decisions, { ...large, lost: ['substitute'] })).toEqual({
      route: 'none',
      ...because(
        'no-route',
        'the input has operations with configurations of their own; the input is too large to be copied for edits',
      ),
    });
    expect(planned(decide(operation(), [tile]), { ...large, wanted: 'inline' })).toEqual({
      route: 'none',
      ...because('no-route', 'the input is too large to be copied for edits'),
    });
    expect(planned(decide(operation(), [tile]), large).route).toBe('spec');
  });
  test('leaves out what no route can bring rather than everything', () => {
    const other = operation().replaceAll('8x', '9x');
    const decisions = decide(operation() + other, [dataTile, tile]);
    const injection = injectionBy('spec', decisions, { ownPreprocessing: true });
    expect(injection.text).toContain('dims_equal %m, [9]');
    expect(injection.text).not.toContain('dims_equal %m, [8]');
  });
  test('asks for data tiling where it wins, and keeps it from the rest', () => {
    const other = operation().replaceAll('8x', '9x');
    const injection = injectionBy('preprocess', decide(operation() + other, [dataTile, tile]));
    expect(injection.needs).toBe('data tiling');
    expect(injection.flags).toEqual(['--iree-global-opt-data-tiling']);
    expect(injection.text.match(/annotate %op "[^"]*"/g)).toEqual([
      'annotate %op "iree.opt.data_tiling"',
      'annotate %op "compilation_info"',
    ]);
    expect(injection.text).toContain('["util.return"]');
    const without = injectionBy('preprocess', decide(other, [tile]), { wanted: 'preprocess' });
    expect(without).toMatchObject({ needs: null, flags: [] });
    expect(without.text).toContain('annotate %op "compilation_info"');
    expect(without.text).not.toContain('util.return');
  });
  test('brings the tiles of packed operations in a tuning spec of their own, unless the user has a pipeline', () => {
    const packed = { inner: [16, 16, 1], swapped: false, distribution: [1, 1] } as const;
    const decisions = decide(operation() + operation(), [
      { version: 1, kind: 'data-tile', packed },
      { version: 1, kind: 'data-tile', packed },
    ]);
    const following = (ownPipeline: boolean) =>
      injectionBy('preprocess', decisions, { ownPipeline }).following;
    expect(following(false)!.match(/named_sequence @match_/g)).toHaveLength(1);
    expect(following(false)).toContain('%first = tensor<1x4x16x1xf32>');
    expect(following(true)).toBeNull();
    expect(planned(decide(operation(), [dataTile]))).toMatchObject({ following: null });
  });
  test('says the pipeline in the words of the compiler', () => {
    const text = (release: InjectionOptions['release']) =>
      injectionBy('spec', decide(operation(), [tile]), { release }).text;
    const peel = ', {enable_loop_peeling}>>';
    expect(text([3, 11, 0])).toContain(`pipeline = CPUDoubleTilingExpert${peel}`);
    expect(text([3, 12, 0])).toContain(`pipeline = #iree_cpu.pipeline<DoubleTilingExpert>${peel}`);
    expect(text([0, 0, 0])).toBe(text([3, 13, 0]));
  });
});

test('inline edits are sorted insertions without which the text is the original', () => {
  const text = operation() + operation('{foo}');
  const injection = injectionBy('inline', decide(text, [tile, tile]), { wanted: 'inline' });
  expect(injection.insertions).toHaveLength(2);
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
