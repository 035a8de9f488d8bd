// The first build runs the program, and leaves out configurations that make it slower or wrong.
// In full after a change of src/program, src/running/verified-decisions.ts, src/running/verify-program.ts, src/plan/unproven.ts.
import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { WORSE } from '../../src/program/judge.ts';
import type { Outcome } from '../../src/decision/decision.ts';
import type { Explanation } from '../../src/report/explain.ts';
import { program } from '../support/scripts.ts';
import { commandLinesWith, leftovers } from '../stress/leftovers.ts';
import { record, statistics } from './faults/support.ts';
import { productsOf } from './programs.ts';
import { rowsOf, WITHOUT_RATES, Workplace, WRAPPER, argv } from './support.ts';

/** Two matmuls, one after the other. The second has 48 columns. */
const [a, b, c, x, y] = ['61x71', '71x67', '67x48', '61x67', '61x48'].map((shape) => `tensor<${shape}xf32>`);
const twoMatmuls = `func.func @main(%a: ${a!}, %b: ${b!}, %c: ${c!}) -> ${y!} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : ${x!}
  %f = linalg.fill ins(%zero : f32) outs(%e : ${x!}) -> ${x!}
  %x = linalg.matmul ins(%a, %b : ${a!}, ${b!}) outs(%f : ${x!}) -> ${x!}
  %g = tensor.empty() : ${y!}
  %h = linalg.fill ins(%zero : f32) outs(%g : ${y!}) -> ${y!}
  %y = linalg.matmul ins(%x, %c : ${x!}, ${c!}) outs(%h : ${y!}) -> ${y!}
  return %y : ${y!}
}
`;

/** A place with simulated tools that log their commands on whole programs. */
function simulatedPlace(text = twoMatmuls, env: Readonly<Record<string, string>> = {}): Workplace {
  const place = Workplace.simulated(env, { isShort: true });
  place.write('in.mlir', text);
  place.write('hook', `echo "$module" >>'${place.path('runs')}'`);
  return place;
}

/** The records of the matmuls, made once. They do not depend on the place. */
let known: Promise<Workplace> | undefined;

/** The same with a record for each matmul. */
async function recordedPlace(text = twoMatmuls): Promise<Workplace> {
  known ??= (async () => {
    const place = simulatedPlace();
    await record(place);
    return place;
  })();
  const place = simulatedPlace(text);
  cpSync(dirname((await known).database), dirname(place.database), { recursive: true });
  return place;
}

const note = (place: Workplace) => `echo "$module" >>'${place.path('runs')}'\n`;

/** Number of runs and timings of whole programs since the last call. */
function runsOf(place: Workplace): number {
  if (!place.has('runs')) return 0;
  const lines = place.read('runs').toString().trim().split('\n').length;
  place.remove('runs');
  return lines;
}

const build = (place: Workplace, env: Readonly<Record<string, string>> = {}): Promise<Explanation> =>
  place.built(argv, { env });

/** The outcome of each matmul, by the columns of its result. */
const outcomes = ({ operations }: Explanation): Record<string, Outcome> =>
  Object.fromEntries(
    operations.map(({ workload, outcome }): [string, Outcome] => [/ n=(\d+) /.exec(workload!)![1]!, outcome]),
  );

/** Workload and kind of every mark. */
function marksOf(place: Workplace): string[] {
  const marks = place.columnOf<string>(
    `SELECT workload.key || ': ' || mark.kind FROM mark
     JOIN subject ON subject.id = mark.subject JOIN workload ON workload.id = subject.workload`,
  );
  return marks.map((mark) => mark.replace(/.* n=(\d+) .*: /, '$1 '));
}

test('a program with correct results and no loss of speed is run once, and the module that was run is the output', async () => {
  const place = await recordedPlace();
  const compiler = place.env['IREE_TUNED_COMPILER']!;
  const noting = join(dirname(compiler), 'noting');
  program(noting, `echo "$*" >>'${place.path('asked')}'\nexec '${compiler}' "$@"`);
  const asked = () => place.read('asked').toString().split('\n');
  // Our own compiles have flags after it.
  const own = () => asked().filter((line) => line.endsWith(' -o out.vmfb'));

  const first = await build(place, { IREE_TUNED_COMPILER: noting });
  expect(outcomes(first)).toEqual({ 67: 'hit', 48: 'hit' });
  const functions = [{ name: 'main', equal: true, timing: { ratio: 2 } }];
  expect(first).toMatchObject({
    ...{ applied: true, program: { functions, leftOut: [], injected: true, reason: null } },
  });
  expect(JSON.stringify(first.operations)).not.toContain('not applied');
  expect(runsOf(place)).toBeGreaterThan(6);
  expect(asked().filter((line) => line.includes('/proof-'))).toHaveLength(1);
  expect(own()).toEqual([]);

  const second = await build(place, { IREE_TUNED_COMPILER: noting, IREE_TUNED_OUTPUTS: 'off' });
  expect(outcomes(second)).toEqual({ 67: 'hit', 48: 'hit' });
  expect(second.program).toBeNull();
  expect(runsOf(place)).toBe(0);
  expect(own()).toHaveLength(1);
});

test('a program is compiled once for dispatch times and its verification', { tags: 'full' }, async () => {
  const columns = [48, 67, 71, 73, 79];
  const text = productsOf(columns.map((n) => [61, n, 31] as const));
  const place = simulatedPlace(text);
  place.write(
    'hook',
    `echo "\${statistics:-0} $(stat -c %i "\${module%/*}/stock.vmfb") \${module##*/}" >>'${place.path('runs')}'`,
  );
  const first = await build(place);
  expect(Object.values(outcomes(first))).toEqual(Array(5).fill('tuned'));
  const runs = place.read('runs').toString().trim().split('\n');
  expect(runs[0]).toMatch(/^1 \d+ stock\.vmfb$/);
  // The tuned program is compared with this file.
  expect(new Set(runs.map((run) => run.split(' ')[1])).size).toBe(1);
  expect(runs.some((run) => run.endsWith(' tuned.vmfb'))).toBe(true);
  expect(leftovers(place.folder)).toEqual([]);
});

test('a compile with more files than its output runs with the given flags', { tags: 'full' }, async () => {
  const place = await recordedPlace();
  const flags = ['--iree-hal-dump-executable-sources-to=sources'];
  const { code } = await place.explain([...flags, ...argv]);
  expect(code).toBe(0);
  expect(place.read('runs').toString()).toContain('/tuned.vmfb');
  expect(place.has('sources')).toBe(true);
});

describe('a tuned dispatch that is slower in the program', () => {
  test('is left out, marked and noted; the other configurations are confirmed', async () => {
    const place = await recordedPlace();
    place.write('slower', '_61x48x67_');
    const first = await build(place);
    expect(outcomes(first)).toEqual({ 67: 'hit', 48: 'default' });
    const reason = `${WORSE}: its dispatches take 2.00 ms instead of 1.00 ms`;
    expect(first.operations[1]).toMatchObject({ configuration: null, speedup: null, reason });
    expect(first).toMatchObject({
      applied: true,
      program: {
        // One of two dispatches takes half as long.
        functions: [{ equal: true, timing: { ratio: 2 / 1.5 } }],
        leftOut: [{ workload: first.operations[1]!.workload, reason }],
        injected: true,
        reason: null,
      },
    });
    expect(marksOf(place)).toEqual(['48 slower']);
    runsOf(place);

    // The record is marked, and this program leaves the configuration out.
    const second = await build(place);
    expect(outcomes(second)).toEqual({ 67: 'hit', 48: 'default' });
    expect(second.operations[1]!.reason).toBe(reason);
    expect({ runs: runsOf(place), trials: rowsOf(place, 'trial') }).toEqual({ runs: 0, trials: 0 });
    const { operations, reasons } = await statistics(place);
    expect(operations).toMatchObject({ tuned: 0, hit: 2, default: 2 });
    expect(reasons.default).toEqual({ 'worse-in-program': 2 });

    // The next build is a replay.
    expect((await place.compile(argv)).code).toBe(0);
    const replayed = place.read('out.vmfb');
    expect((await place.compile(argv)).code).toBe(0);
    expect(place.read('out.vmfb').equals(replayed)).toBe(true);
    expect(runsOf(place)).toBe(0);
    expect(await place.said(['explain', 'in.mlir'], WITHOUT_RATES)).toContain(reason);
  });

  test('is searched again by another program, and that program is run again', { tags: 'full' }, async () => {
    const place = await recordedPlace();
    place.write('slower', '_61x48x67_');
    await build(place);
    runsOf(place);
    place.write('in.mlir', twoMatmuls.replace('(%a:', '(%unused: tensor<8xf32>, %a:'));
    const other = await build(place);
    expect(outcomes(other)).toEqual({ 67: 'hit', 48: 'default' });
    expect(rowsOf(place, 'trial')).toBeGreaterThan(0);
    expect(runsOf(place)).toBeGreaterThan(0);
    // A second slower program shows that the configuration is not the reason.
    expect(marksOf(place)).toEqual(['48 slower']);
    const again = rowsOf(place, 'trial');
    expect(outcomes(await build(place))).toEqual({ 67: 'hit', 48: 'default' });
    expect({ runs: runsOf(place), trials: rowsOf(place, 'trial') }).toEqual({ runs: 0, trials: again });
    // The first program has a new configuration to try.
    place.write('in.mlir', twoMatmuls);
    expect(outcomes(await build(place))).toEqual({ 67: 'hit', 48: 'default' });
    expect(runsOf(place)).toBeGreaterThan(0);
    await build(place);
    expect({ runs: runsOf(place), trials: rowsOf(place, 'trial') }).toEqual({ runs: 0, trials: again });
  });
});

const wrongOnes: [string, string, Record<string, Outcome>, string[]][] = [
  ['of several none is marked', '.', { 67: 'default', 48: 'default' }, []],
  ['a single one is marked', '_61x48x67_', { 67: 'hit', 48: 'default' }, ['48 wrong-result']],
];
test.each(casesOfTier(wrongOnes, 1))('wrong results: %s', async (_, wrong, expected, marks) => {
  const place = await recordedPlace();
  place.write('wrong', wrong);
  const first = await build(place);
  expect(outcomes(first)).toEqual(expected);
  expect(first.operations[1]!.code).toBe('worse-in-program');
  expect(marksOf(place)).toEqual(marks);
});

/** A tenth of it is short for tools that hang, and long enough for the others on a busy machine. */
const SHORT = { IREE_TUNED_BUDGET: '20' };
const LONG = { IREE_TUNED_BUDGET: '200' };

/** A build that injects its configurations without a verdict, for this reason. */
async function expectUnverified(place: Workplace, reason: RegExp, env = LONG): Promise<Explanation> {
  const explanation = await build(place, env);
  expect(explanation).toMatchObject({
    applied: true,
    program: { injected: true, leftOut: [], reason: expect.stringMatching(reason) as string },
  });
  expect(outcomes(explanation)).toEqual({ 67: 'hit', 48: 'hit' });
  return explanation;
}

describe('a program that cannot be run is compiled with its configurations', () => {
  const faults: [string, string, RegExp, typeof LONG][] = [
    [
      'stock crashes',
      'ulimit -c 0; kill -SEGV $$',
      /^stock cannot be run: ended by SIGSEGV \(@main\)$/,
      LONG,
    ],
    ['it hangs', 'exec sleep 600', /^stock cannot be run: took longer than 4\.0 s \(@main\)$/, SHORT],
    [
      // Each of many elements is one of two sizes, so that no result is further off than stock's own.
      'its results are never the same',
      'for o; do case $o in --output=@*) head -c 4000 /dev/urandom | LC_ALL=C tr "\\000-\\177" h | LC_ALL=C tr "\\200-\\377" i >"${o#*@}"; exit ;; esac; done',
      /^result 0 moves by half of its value .* \(@main\)$/,
      LONG,
    ],
  ];
  test.each(casesOfTier(faults, 1))('because %s', async (_, deed, reason, env) => {
    const place = await recordedPlace();
    place.write('hook', note(place) + deed);
    await expectUnverified(place, reason, env);
    expect(runsOf(place)).toBeGreaterThan(0);
  });

  test('and run again by two more builds and by a build with more time', { tags: 'full' }, async () => {
    const place = await recordedPlace();
    place.write('hook', `${note(place)}exit 1`);
    const reason = /^stock cannot be run: /;
    await expectUnverified(place, reason, SHORT);
    expect(runsOf(place)).toBeGreaterThan(0);
    const compile = async () => {
      expect(await place.compile(argv, { env: SHORT })).toMatchObject({ code: 0, stderr: '' });
      return { runs: runsOf(place) > 0, replayed: place.has('cache/replays') };
    };
    expect(await compile()).toEqual({ runs: true, replayed: false });
    expect(await compile()).toEqual({ runs: true, replayed: false });
    expect(await compile()).toEqual({ runs: false, replayed: true });
    await expectUnverified(place, reason, SHORT);
    expect(runsOf(place)).toBe(0);
    place.write('hook', note(place));
    expect((await build(place, LONG)).program).toMatchObject({ reason: null, functions: [{ equal: true }] });
  });

  test('because its inputs cannot be generated, which costs no time', { tags: 'full' }, async () => {
    const place = await recordedPlace(twoMatmuls.replace('%c:', '%d: tensor<?xf32>, %c:'));
    const { program } = await expectUnverified(place, /^none of its functions can be run$/);
    expect(program).toMatchObject({
      code: 'nothing-callable',
      skipped: [{ name: 'main', code: 'not-callable' }],
    });
    expect(runsOf(place)).toBe(0);
  });

  test(
    'because a tenth of the budget is too little, or measuring is disabled',
    { tags: 'full' },
    async () => {
      const place = await recordedPlace();
      const { program } = await build(place, { IREE_TUNED_BUDGET: '14' });
      expect(program).toMatchObject({
        injected: true,
        reason: 'the budget leaves too little time to run it',
      });
      for (const [name, value] of [
        ['IREE_TUNED_BUDGET', '0'],
        ['IREE_TUNED_ON_MISS', 'default'],
        ['IREE_TUNED_READONLY', 'true'],
      ] as const)
        expect(await build(place, { [name]: value })).toMatchObject({ route: 'spec', program: null });
      expect(runsOf(place)).toBe(0);
    },
  );
});

test('a tuned program that crashes is not used, and its configurations are not marked', async () => {
  const place = await recordedPlace();
  place.write('hook', `${note(place)}case $module in *tuned.vmfb) ulimit -c 0; kill -SEGV $$ ;; esac`);
  const { route, operations } = await build(place);
  expect(route).toBe('none');
  expect(operations[0]!.code).toBe('worse-in-program');
  expect(marksOf(place)).toEqual([]);
});

test('without times of dispatches bisection finds the slower configuration', { tags: 'full' }, async () => {
  const place = await recordedPlace();
  place.write('slower', '_61x48x67_');
  place.write(
    'hook',
    `${note(place)}[ -z "$statistics" ] || { echo "unknown flag dispatch_statistics" >&2; exit 1; }`,
  );
  const { operations, program } = await build(place);
  expect(operations.map(({ outcome }) => outcome)).toEqual(['hit', 'default']);
  expect(program).toMatchObject({ injected: true, reason: null });
  expect(marksOf(place)).toEqual([]);
});

describe('a build that is killed while its program runs', () => {
  test.each(casesOfTier(['SIGKILL', 'SIGTERM'] as const, 1))(
    'by %s leaves nothing behind',
    async (signal) => {
      const place = await recordedPlace();
      place.write('held', '');
      place.write('hook', `${note(place)}while [ -e '${place.path('held')}' ]; do sleep 0.05; done`);
      const { child, ended } = place.start(WRAPPER, argv);
      await expect.poll(() => place.has('runs'), { timeout: 250_000 }).toBe(true);
      child.kill(signal);
      expect((await ended).signal).toBe(signal);
      await expect.poll(() => commandLinesWith(place.folder), { timeout: 60_000 }).toEqual([]);
      expect(place.has('out.vmfb')).toBe(false);
      place.remove('held');
      runsOf(place);
      expect((await build(place)).program).toMatchObject({ reason: null });
      expect(runsOf(place)).toBeGreaterThan(0);
      expect(leftovers(place.folder)).toEqual([]);
    },
  );
});

const unrun: [string, string, Record<string, string>][] = [
  ['that nobody can run', twoMatmuls.replace('(%a:', '(%unused: tensor<?xf32>, %a:'), LONG],
  ['that is not run, at a budget of 0', twoMatmuls, { IREE_TUNED_BUDGET: '0' }],
];
test.each(unrun)(
  'a program %s gets no data tiling for operands of another operation',
  { tags: 'full' },
  async (_, text, env) => {
    const place = simulatedPlace(text);
    await record(place, (workload) =>
      workload.includes('n=48') ? { version: 1, kind: 'data-tile' } : { version: 1, kind: 'default' },
    );
    const { explanation } = await place.explain(argv, { env });
    const configurations = explanation.operations.map(({ configuration }) => configuration);
    expect(configurations).toEqual([{ version: 1, kind: 'default' }, null]);
    expect(explanation.operations[1]!.code).toBe('unproven-in-program');
  },
);
