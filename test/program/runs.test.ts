// @module-tag slow
// Runs of a program with subsets of its configurations, on scripted tools.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CallSizes } from '../../src/input/call-sizes.ts';
import { NO_TIME } from '../../src/program/judge.ts';
import { isEitherFaster } from '../../src/program/answered.ts';
import { comparisonWith } from '../../src/program/results.ts';
import { programRuns } from '../../src/program/runs.ts';
import type { Reference } from '../../src/program/verify.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';
import { because } from '../../src/system/reason.ts';
import { temporaryDirectory } from '../support/folders.ts';

/**
 * @param body shell text. `$module` is `stock` or the keys of its configurations. The text sets `result`, the program's result, and `ms`,
 * the time of the program and of its only dispatch
 */
function fakeProgram(
  body: string,
  {
    seconds = 60,
    functions = ['main'],
    calls = [],
    result = 'f16',
    reference,
  }: {
    seconds?: number;
    functions?: string[];
    calls?: (CallSizes | null)[];
    result?: string;
    reference?: Reference;
  } = {},
) {
  const folder = temporaryDirectory();
  const tool = (name: string, text: string) => {
    const path = join(folder, name);
    const head = `for argument; do case $argument in
  --module=*) module=\${argument##*/} ;;
  --function=*) function=\${argument#*=} ;;
  --output=@*) output=\${argument#*@} ;;
esac; done
result=right ms=1
echo "${name} $module" >>'${folder}/log'
${body}`;
    writeFileSync(path, `#!/bin/sh\n${head}\n${text}\n`, { mode: 0o755 });
    return path;
  };
  const row = (name: string, more = '') =>
    `{"name":"BM_main/${name}","run_type":"iteration","real_time":'$ms',"time_unit":"ms"${more}}`;
  const tools = {
    runModule: tool('run', 'printf $result >"$output"'),
    benchmarkModule: tool(
      'benchmark',
      `echo '{"benchmarks":[${row('real_time')},${row('d', ',"calls":1')}]}'`,
    ),
  };
  const compiled: string[] = [];
  const input = join(folder, 'input0.bin');
  writeFileSync(input, new Float32Array([1, 0, -2]));
  const contests = functions.map((name, i) => ({
    function: {
      call: calls[i] ?? null,
      name,
      arguments: [],
      results: [{ elementType: result, shape: null }],
      unsupported: null,
    },
    ...{
      stock: join(folder, 'stock'),
      inputs: [`3xf32=@${input}`],
      isRandom: true,
      device: describeDevice('local-sync'),
      tools,
      folder,
      ...(reference && { reference }),
    },
  }));
  const runs = programRuns(
    contests,
    (keys) => {
      compiled.push(keys.join(''));
      return Promise.resolve(
        keys.includes('broken') || keys.includes('late')
          ? { problem: 'an error', isLate: keys.includes('late') }
          : { module: join(folder, keys.join('')), dispatches: new Map(keys.map((key) => [key, ['d']])) },
      );
    },
    seconds,
    reference && isEitherFaster,
  );
  return { runs, compiled, contests };
}

test('a faster program with equal results', async () => {
  const { runs } = fakeProgram('case $module in a) ms=0.5 ;; esac');
  expect(await runs.compare(['a'])).toEqual({ results: 'equal', why: null });
  // There are no times before a query about times.
  expect(runs.measured(['a']).workloads).toEqual([]);
  expect(await runs.slower(['a'])).toEqual([]);
  expect(runs.measured(['a']).workloads).toMatchObject([
    { key: 'a', calls: 1, isCertain: false, comparison: { ratio: 2 } },
  ]);
  expect(await runs.ratio(['a'])).toBe(1);
  expect(runs.measured(['a']).functions).toMatchObject([
    { name: 'main', equal: true, maxError: 0, reason: null, timing: { ratio: 2, seconds: [0.001, 0.0005] } },
  ]);
});

describe('a program whose original is too slow to run', () => {
  const REFERENCE: Reference = { tuned: 'softmax', originalSeconds: 40 };

  test('is compared with a reference, and timed against the original', async () => {
    const { runs } = fakeProgram('', { reference: REFERENCE });
    expect(runs.measured(['a']).functions).toEqual([]);
    expect(await runs.compare(['a'])).toEqual({ results: 'equal', why: null });
    expect(await runs.ratio(['a'])).toBe(1);
    const [found] = runs.measured(['a']).functions;
    expect(found!.timing!.seconds[0]).toBe(40);
    expect(found!.timing!.ratio).toBeGreaterThan(5);
    expect(found!.compared).toMatch(
      / 40\.\d+ s or more, so softmax, which was checked alone, is tuned in both$/,
    );
  });

  test('is timed in pairs if it may not be much faster, without its dispatches, which may be tuned in both', async () => {
    const { runs } = fakeProgram('case $module in a) ms=0.2 ;; esac', {
      reference: { ...REFERENCE, originalSeconds: 1e-6 },
    });
    await runs.compare(['a']);
    expect(await runs.ratio(['a'])).toBe(1);
    expect(await runs.slower(['a'])).toEqual([]);
    expect(runs.measured(['a'])).toMatchObject({ functions: [{ timing: { ratio: 5 } }], workloads: [] });
  });

  test('does not ship a result that differs from that of the reference', async () => {
    const { runs } = fakeProgram('case $module in a) result=wrong ;; esac', { reference: REFERENCE });
    expect(await runs.compare(['a'])).toMatchObject({ results: 'different' });
  });
});

test('the timing of a program with slow runs may exceed the budget', { tags: 'full' }, async () => {
  const { runs } = fakeProgram('case $0 in *run) sleep 0.8 ;; esac; case $module in a) ms=2 ;; esac', {
    seconds: 4,
  });
  await runs.compare(['a']);
  expect(await runs.ratio(['a'])).toBe(0.5);
});

test(
  'a program with calls of seconds gets the time for the fewest pairs of processes',
  { tags: 'full' },
  async () => {
    const { runs } = fakeProgram('case $0 in *run) sleep 5.2 ;; esac; case $module in a) ms=0.5 ;; esac', {
      seconds: 200,
    });
    await runs.compare(['a']);
    expect(await runs.ratio(['a'])).toBe(1);
    expect(runs.measured(['a']).functions).toMatchObject([{ timing: { ratio: 2 } }]);
  },
);

test('a slower program with a slower dispatch', async () => {
  const { runs } = fakeProgram('case $module in a) ms=2 ;; esac');
  await runs.compare(['a']);
  expect(await runs.slower(['a'])).toMatchObject([{ key: 'a', isCertain: true, comparison: { ratio: 0.5 } }]);
  expect(await runs.ratio(['a'])).toBe(0.5);
});

test('a loss that may be noise has no ratio', { tags: 'full' }, async () => {
  // Much slower than stock in most processes, and much faster in some.
  const { runs } = fakeProgram(`case $module in a)
    echo >>"$0.count"; case $(wc -l <"$0.count") in 5|13|21) ms=0.6 ;; *) ms=2.4 ;; esac ;; esac`);
  await runs.compare(['a']);
  expect(await runs.slower(['a'])).toEqual([]);
  expect(await runs.ratio(['a'])).toBeNull();
});

test('a function that stock cannot run has no times, and keeps the reason', async () => {
  const { runs } = fakeProgram('case $module in stock) exit 1 ;; esac');
  await runs.compare(['a']);
  expect(await runs.ratio(['a'])).toBeNull();
  expect(runs.measured(['a']).functions).toMatchObject([
    { timing: null, reason: expect.stringMatching(/^stock cannot be run: exit code 1/) as string },
  ]);
});

test.each([
  [
    'other results',
    'case $module in a) result=wrong ;; esac',
    'different',
    /^result 0: .*element 0 is .* \(@main\)$/,
  ],
  [
    'a crash',
    'case $module in a) ulimit -c 0; kill -SEGV $$ ;; esac',
    'failed',
    /^tuned cannot be run: .*SEGV/,
  ],
  [
    'stock that crashes',
    'case $module in stock) exit 1 ;; esac',
    'unknown',
    /^stock cannot be run: exit code 1/,
  ],
  [
    'results that differ from run to run',
    'echo >>"$0.runs"; result=r$(($(wc -l <"$0.runs")))',
    'unknown',
    /^result 0 moves by half of its value/,
  ],
])('%s', async (_, body, results, reason) => {
  const { runs } = fakeProgram(body);
  expect(await runs.compare(['a'])).toMatchObject({
    results,
    why: { reason: expect.stringMatching(reason) as string },
  });
});

test('without time for references a difference is no verdict', async () => {
  const { contests } = fakeProgram('case $module in tuned) result=wrong ;; esac');
  const tuned = join(contests[0]!.folder, 'tuned');
  expect(await comparisonWith(contests[0]!)(tuned, 10, () => false)).toMatchObject({
    equal: null,
    isLate: true,
  });
});

describe('a difference is compared with that of honest builds', () => {
  /** The bits of an f32: 1 with the given inputs, 1.001 with moved inputs, and `tuned` with the configuration. */
  const body = (tuned: string) => String.raw`one='\000\000\200\077'
    case "$module $*" in
      a*) result=${tuned} ;;
      */moved-*/0-input0.bin*) result='\305\040\200\077' ;;
      *) result=$one ;;
    esac`;
  test.each([
    ['a difference of the same size', 'f32', String.raw`'\305\040\200\077'`, { results: 'equal', why: null }],
    ['a much larger difference', 'f32', String.raw`'\000\000\000\101'`, { results: 'different' }],
    [
      'the bits of an integer that honest builds move as far',
      'i8',
      "'\\000\\001\\200\\077'",
      { results: 'different' },
    ],
  ])('%s', async (_, result, tuned, expected) => {
    const { runs } = fakeProgram(body(tuned), { result });
    expect(await runs.compare(['a'])).toMatchObject(expected);
  });
});

test('a program that does not compile has failed', async () => {
  const { runs } = fakeProgram('');
  const why = because('compile-failed', 'it does not compile: an error');
  expect(await runs.compare(['broken'])).toEqual({ results: 'failed', why });
});

test('the results of a program without time to compile are unknown', async () => {
  const { runs } = fakeProgram('');
  expect(await runs.compare(['late'])).toMatchObject({ results: 'unknown' });
});

test('a program that hangs uses up the time, and later queries have no answer', async () => {
  const { runs } = fakeProgram('case $module in a) exec sleep 60 ;; esac', { seconds: 1 });
  expect(await runs.compare(['a'])).toMatchObject({ results: 'failed' });
  expect(await runs.compare(['b'])).toEqual({ results: 'unknown', why: NO_TIME });
});

test('a call that only checks results is compared after the others have used up their time', async () => {
  const extra = { text: '', shapes: [], isNamed: false, isExtra: true };
  const options = { seconds: 1, functions: ['main', 'other'] };
  const body = 'if [ "$function" = main ]; then sleep 0.6; fi';
  const { runs } = fakeProgram(body, { ...options, calls: [null, extra] });
  expect(await runs.compare(['a'])).toMatchObject({ results: 'equal' });
  const { runs: plain } = fakeProgram(body, options);
  expect(await plain.compare(['a'])).toEqual({ results: 'unknown', why: NO_TIME });
});

test('a program without time for a call that only checks results still has its verdict', async () => {
  const extra = { text: '', shapes: [], isNamed: false, isExtra: true };
  const body = 'if [ "$function" = other ]; then sleep 2; fi';
  const { runs } = fakeProgram(body, { seconds: 2, functions: ['main', 'other'], calls: [null, extra] });
  await runs.compare(['a']);
  expect(await runs.ratio(['a'])).toBe(1);
  expect(runs.measured(['a']).functions.map(({ timing }) => timing === null)).toEqual([false, true]);
});

test('a repeated query gets the earlier answer', async () => {
  const { runs, compiled } = fakeProgram('');
  for (let i = 0; i < 2; i++) {
    await runs.compare(['a']);
    expect(await runs.ratio(['a'])).toBe(1);
  }
  // Once to compare, and once to time.
  expect(compiled).toEqual(['a', 'a']);
});

test('one slower function makes the program slower', async () => {
  const { runs } = fakeProgram('case $module-$function in a-second) ms=2 ;; esac', {
    functions: ['first', 'second'],
  });
  expect(await runs.compare(['a'])).toMatchObject({ results: 'equal' });
  expect(await runs.ratio(['a'])).toBe(0.5);
  expect(runs.measured(['a']).functions.map(({ name }) => name)).toEqual(['first', 'second']);
});
