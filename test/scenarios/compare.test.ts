// `iree-tuned compare`
// In full after a change of src/running/comparison, src/cli/compare.ts.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Comparison } from '../../src/running/comparison/compare.ts';
import { casesOfTier } from '../support/needs.ts';
import { giveAnswers } from '../support/answers.ts';
import { compiler, runtimeTool } from '../support/real-tools.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { installScripts } from '../support/scripts.ts';
import { TILE } from '../store/samples.ts';
import { record } from './faults/support.ts';
import { HOST, matmulModule, Workplace } from './support.ts';

const MATMUL = matmulModule(64, 64, 64);

/** Values of `--json`. */
interface Written extends Comparison {
  readonly version: number;
  readonly command: readonly string[];
  readonly device: { readonly driver: string; readonly threads: number };
  readonly sentence: string;
}

const readJson = (place: Workplace) => JSON.parse(place.read('out.json').toString()) as Written;

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** A compiler that runs the script first, with its real runtime. A process times a module for milliseconds only. */
function scripted(place: Workplace, script: string, run = `exec '${runtimeTool('iree-run-module')}' "$@"`) {
  const path = installScripts(join(place.folder, 'scripted'), {
    compile: `${script}\nexec '${rememberingCompiler}' "$@"`,
    benchmark: `exec '${runtimeTool('iree-benchmark-module')}' "$@" --benchmark_repetitions=3 --benchmark_min_time=0.001s`,
    run,
  });
  giveAnswers(place.path('cache'), path);
  return { IREE_TUNED_COMPILER: path };
}

test(
  'a model is built in each way, its results are compared, and its builds are timed',
  { tags: 'full' },
  async () => {
    const place = new Workplace();
    place.write('in.mlir', MATMUL);
    // Tuned has a record instead of a search.
    await record(place, () => TILE, [...HOST, 'in.mlir', '-o', 'mine.vmfb']);
    place.remove('mine.vmfb');
    const argv = [
      'compare',
      'in.mlir',
      '--budget',
      '0',
      '--json',
      'out.json',
      '--',
      ...HOST,
      '-o',
      'mine.vmfb',
    ];
    const { code, stdout, stderr } = await place.tuned(argv, { env: scripted(place, '') });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // The user's own output is not written.
    expect(place.has('mine.vmfb')).toBe(false);
    const { builds, best, results, rounds, explanation, ...written } = readJson(place);
    expect(builds.map(({ name }) => name)).toEqual([
      ...['default', 'O3', 'data tiling', 'O3, data tiling', 'im2col', 'tuned'],
    ]);
    for (const one of builds) {
      expect(one).toMatchObject({ error: null });
      expect(one.compileSeconds).toBeGreaterThan(0);
      const { seconds, low, high } = one.seconds!;
      expect(low).toBeLessThanOrEqual(seconds);
      expect(high).toBeGreaterThanOrEqual(seconds);
    }
    expect(builds.find(({ name }) => name === best)?.againstBest?.ratio).toBe(1);
    expect(builds[0]!.againstDefault).toEqual({ ratio: 1, low: 1, high: 1 });
    // The program has no convolution.
    expect(builds[4]!.sameCodeAs).toBe('default');
    expect(results).toMatchObject([{ name: 'main', equal: true, reason: null }]);
    expect(rounds).toBeGreaterThanOrEqual(3);
    expect(builds[5]!.sameCodeAs).toBeNull();
    expect(explanation?.operations).toMatchObject([{ outcome: 'hit', configuration: TILE }]);
    expect(written).toMatchObject({
      ...{ version: 1, model: 'in.mlir', device: { driver: 'local-sync', threads: 1 }, skipped: [] },
      command: ['in.mlir', ...HOST, '-o', 'mine.vmfb'],
    });
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^in\.mlir on .*, local-sync, 1 thread; \d+ rounds?$/);
    expect(lines.find((line) => line.startsWith('tuned '))).toMatch(/ equal /);
    expect(oneLine(stdout)).toContain(oneLine(written.sentence));
  },
);

test('a variant that fails is a result, and so are wrong results of tuned', { tags: 'full' }, async () => {
  const place = new Workplace({ IREE_TUNED_BUDGET: '0' });
  place.write('in.mlir', MATMUL);
  place.write(
    'wrong.mlir',
    MATMUL.replace('return %result', '%wrong = arith.negf %result : tensor<64x64xf32>\n  return %wrong'),
  );
  const env = scripted(
    place,
    `case "$*" in
      *im2col*) echo 'in.mlir:1:1: error: no im2col' >&2; exit 1 ;;
      *tuned.vmfb*) for one do shift; [ "$one" = in.mlir ] && one=wrong.mlir; set -- "$@" "$one"; done ;;
    esac`,
  );
  const argv = ['compare', 'in.mlir', '--json', 'out.json', '--', ...HOST, '--iree-opt-level=O2'];
  const { code, stdout } = await place.tuned(argv, { env });
  const { builds, results, sentence } = readJson(place);
  expect(builds.map(({ name }) => name)).toEqual(['default', 'data tiling', 'im2col', 'tuned']);
  expect(builds[2]).toMatchObject({
    error: 'in.mlir:1:1: error: no im2col',
    seconds: null,
    againstBest: null,
  });
  expect(oneLine(stdout)).toContain('im2col has no time: in.mlir:1:1: error: no im2col');
  expect(results).toMatchObject([{ equal: false }]);
  expect(stdout).toMatch(/^tuned .* DIFFERENT/m);
  expect(sentence).toMatch(/^Do not use the tuned build: its results differ from stock's \(@main: /);
  expect(code).toBe(1);
});

describe('a comparison that is not possible names the reason', () => {
  const DYNAMIC = matmulModule('?', 64, 64);

  const programs: [name: string, program: string, flags: readonly string[], message: RegExp][] = [
    ['an input that does not compile', 'func.func @main(', HOST, /^in\.mlir: it does not compile: .*error:/],
    ['nothing callable', DYNAMIC, HOST, /none of its functions can be called .*@main: .*--iree-tuned-dim/],
    [
      'another target',
      MATMUL,
      ['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=vmvx'],
      /nothing can be measured here: no tuner for backend vmvx/,
    ],
    ['a partial compile', MATMUL, ['--compile-to=flow'], /leave out flags .*--compile-to=flow/],
    ['an unknown flag', MATMUL, ['--iree-none'], /^in\.mlir: .*--iree-none/],
    ['no results', 'func.func @main(%x: tensor<8xf32>) { return }', HOST, /@main: it returns nothing/],
  ];
  test.each(casesOfTier(programs, 1))('%s', async (_, program, flags, message) => {
    const place = new Workplace();
    place.write('in.mlir', program);
    const { code, stderr } = await place.tuned(['compare', 'in.mlir', '--', ...flags]);
    expect(oneLine(stderr.replace('iree-tuned: ', ''))).toMatch(message);
    expect(code).toBe(1);
  });

  test('a program that cannot run', async () => {
    const place = new Workplace();
    place.write('in.mlir', MATMUL);
    const env = scripted(place, '', 'echo "no memory left" >&2; exit 3');
    const { code, stderr } = await place.tuned(['compare', 'in.mlir', '--', ...HOST], { env });
    expect(oneLine(stderr)).toContain('@main of stock cannot be run here: exit code 3: no memory left');
    expect(code).toBe(1);
  });

  const commands: [words: readonly string[], code: number, message: RegExp][] = [
    [['in.mlir', '--iree-opt-level=O3'], 2, /compiler flags follow --/],
    [
      ['in.mlir', '--json', 'none/out.json'],
      1,
      /--json none\/out\.json: .*none cannot be written: there is no/,
    ],
    [['-'], 1, /-: it is compiled several times: name a file/],
    [[], 2, /missing required argument 'model'/],
    [['none.mlir'], 1, /none\.mlir: the input cannot be read: there is no such file/],
  ];
  test.each(casesOfTier(commands, 2))('%j', async (words, code, message) => {
    const place = new Workplace({ IREE_TUNED_COMPILER: compiler.executable });
    place.write('in.mlir', MATMUL);
    const result = await place.tuned(['compare', ...words]);
    expect(oneLine(result.stderr)).toMatch(message);
    expect(result.code).toBe(code);
  });
});
