// Tuning ahead of builds: a sweep is killed and continued, and later builds have hits only. Misses of builds are tuned, too.
// In full after a change of src/populate, src/cli/tune.
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { TuningRecord } from '../../src/store/store.ts';
import { casesOfTier } from '../support/needs.ts';
import { productsOf } from './programs.ts';
import { HOST, oddMatmul, withoutMatmul, Workplace, TUNED } from './support.ts';

interface Population {
  readonly plan: {
    readonly todo: readonly { readonly workload: string }[];
    readonly known: readonly unknown[];
    readonly duplicates: number;
    readonly skipped: readonly { readonly what: string; readonly reason: string }[];
  };
  readonly programs: unknown;
  readonly results: readonly { readonly workload: string; readonly outcome: string }[] | null;
}

const softmax = (type: string) => `func.func @main(%x: ${type}) -> ${type} {
  %empty = tensor.empty() : ${type}
  %r = linalg.softmax dimension(2) ins(%x : ${type}) outs(%empty : ${type}) -> ${type}
  return %r : ${type}
}
`;

/** Outcomes of a build that does not tune. */
async function outcomes(place: Workplace) {
  const { explanation } = await place.explain([...HOST, 'model.mlir', '-o', 'model.vmfb'], {
    env: { IREE_TUNED_ON_MISS: 'default' },
  });
  return explanation.operations.map(({ outcome }) => outcome);
}

const records = (place: Workplace) => place.asked<TuningRecord[]>(['db', 'ls', '--json']);

test(
  'a killed sweep can be continued, and builds of its shapes have hits only',
  { tags: 'full' },
  async () => {
    const place = Workplace.simulated({}, { isShort: true, programs: 'failing' });
    const sweep = [
      'tune',
      '--m',
      '32:57:12',
      '--n',
      '40',
      '--k',
      '64',
      '--rhs-constant',
      'no',
      '--jobs',
      '1',
    ];
    const { child, ended } = place.start(TUNED, sweep);
    let said = '';
    child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()));
    while (!said.includes('1 of 3')) await sleep(20);
    child.kill('SIGKILL');
    expect((await ended).signal).toBe('SIGKILL');
    const before = await records(place);
    expect(before.length).toBeGreaterThanOrEqual(1);
    expect(before.length).toBeLessThan(3);

    const again = await place.tuned([...sweep, '--json']);
    expect(again.code, again.stderr).toBe(0);
    const { plan, results } = JSON.parse(again.stdout) as Population;
    expect(plan.known).toHaveLength(before.length);
    expect(results!.every(({ outcome }) => outcome === 'tuned')).toBe(true);
    const after = await records(place);
    expect(after).toHaveLength(3);
    // No earlier workload was measured again.
    for (const record of before) expect(after).toContainEqual(record);

    place.write('model.mlir', productsOf([32, 44, 56].map((m) => [m, 40, 64] as const)));
    expect(await outcomes(place)).toEqual(['hit', 'hit', 'hit']);
  },
);

test(
  'a dry run lists new, known, duplicate and skipped workloads, and changes nothing; misses are tuned later',
  { tags: 'full' },
  async () => {
    const place = Workplace.simulated({}, { isShort: true, programs: 'failing' });
    place.write('model.mlir', oddMatmul);
    await place.compile([...HOST, 'model.mlir', '-o', 'model.vmfb'], {
      env: { IREE_TUNED_ON_MISS: 'record' },
    });
    const flags = ['--', ...HOST];
    place.write('list.csv', 'm,n,k,rhs_constant,count\n33,17,65,no,5\n33,17,65,no,1\n');
    place.write('other.mlir', withoutMatmul);
    const all = ['tune', 'model.mlir', 'other.mlir', '--shapes', 'list.csv', '--from-misses'];
    const dry = await place.tuned([...all, '--dry-run', '--json', ...flags]);
    expect(dry.code, dry.stderr).toBe(0);
    const { plan, results } = JSON.parse(dry.stdout) as Population;
    expect(results).toBeNull();
    // The model and the misses of its build have the same workloads. The list has another workload, twice.
    expect(plan.todo).toHaveLength(2);
    expect(plan.duplicates).toBe(2);
    expect(plan.skipped).toMatchObject([{ what: 'other.mlir', reason: 'nothing to tune in the input' }]);
    expect(await records(place)).toEqual([]);

    const run = await place.tuned(['tune', '--from-misses', ...flags]);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toMatch(/1 of 1: .*faster than the default/);
    expect(run.stdout).toMatch(/1 of 1 have a record now, 1 of them faster/);
    expect(await outcomes(place)).toEqual(['hit']);
    const human = await place.tuned([...all, '--dry-run', ...flags]);
    expect(human.stdout).toMatch(/^new +1$[^]*^known +1$[^]*^duplicate +1$/m);
    const again = await place.tuned([...all, '--again', '--dry-run', ...flags]);
    expect(again.stdout).toMatch(/^new +1$[^]*^unfinished +1$[^]*^known +0$/m);
  },
);

test(
  'shards plan all models and shapes, each once, in any order and in any folder',
  { tags: 'full' },
  async () => {
    const planned = async (place: Workplace, inputs: readonly string[], shard: string) => {
      const sweep = ['--m', '32', '--n', '40', '--k', '64', '--rhs-constant', 'no'];
      const argv = ['tune', ...inputs, ...sweep, '--shard', shard, '--dry-run', '--json'];
      const { code, stdout, stderr } = await place.tuned(argv);
      expect(code, stderr).toBe(0);
      const { plan } = JSON.parse(stdout) as Population;
      return { stderr, workloads: plan.todo.map(({ workload }) => workload).toSorted() };
    };
    const [here, there] = [new Workplace(), new Workplace()];
    for (const place of [here, there]) {
      mkdirSync(place.path('models'));
      for (const m of [16, 17, 18])
        place.write(`models/m-${m}.mlir`, productsOf([[m, 40, 64] as const, [2 * m, 8, 8] as const]));
    }
    const shards = await Promise.all(['1/2', '2/2'].map((shard) => planned(here, ['models'], shard)));
    expect(shards.map(({ stderr }) => stderr)).toEqual([
      'iree-tuned: shard 1/2: 2 of 4 models and shapes\n',
      'iree-tuned: shard 2/2: 2 of 4 models and shapes\n',
    ]);
    expect(shards.map(({ workloads }) => workloads.length)).toEqual([4, 3]);
    expect(new Set(shards.flatMap(({ workloads }) => workloads)).size).toBe(7);
    const files = [18, 16, 17].map((m) => there.path(`models/m-${m}.mlir`));
    expect((await planned(there, files, '2/2')).workloads).toEqual(shards[1]!.workloads);
    // More shards than work.
    expect((await planned(here, ['models'], '2/9')).workloads).toEqual([]);
  },
);

const refusals: [string[], string, code?: number][] = [
  [['--m', '64:128'], '--n is missing', 2],
  [['--shapes', 'none.csv'], 'none.csv cannot be read'],
  [
    ['--from-misses', '--flags', '--iree-codegen-tuning-spec-path=x.mlir'],
    'nothing is tuned with these flags',
  ],
  [['--from-misses', '--jobs', '0'], 'It must be a whole number of at least 1', 2],
];
test.each(casesOfTier(refusals, 1))('%j is refused with the way out', async (argv, message, expected = 1) => {
  const { code, stderr } = await new Workplace().tuned(['tune', ...argv]);
  expect(code).toBe(expected);
  expect(stderr).toContain(message);
});

test(
  'a softmax of a sweep and a program in other forms are tuned where they are',
  { timeout: 300_000, tags: 'full' },
  async () => {
    const place = new Workplace();
    const sweep = ['--op', 'softmax', '--batch', '4', '--m', '100', '--n', '150'];
    const planned = await place.tuned(['tune', 'model.mlir', ...sweep, '--dry-run']);
    expect(planned.code, planned.stderr).toBe(1);
    expect(planned.stderr).toContain('model.mlir: there is no such file or folder');
    const found = await place.tuned(['tune', ...sweep, '--json']);
    expect(found.stderr).toContain('program 1 of 1, softmax_4x100x150_f32: 1 dispatch');
    const { plan, programs } = JSON.parse(found.stdout) as Population;
    expect(programs).toMatchObject({
      tuned: [{ source: 'softmax_4x100x150_f32', forms: null, dispatches: 1, decided: 1 }],
    });
    // With the record the same request has no work left.
    expect(plan).toMatchObject({ programs: [], todo: [], skipped: [] });

    place.write('softmax.mlir', softmax('tensor<4x100x150xf32>'));
    const { explanation } = await place.explain([...HOST, 'softmax.mlir', '-o', 'softmax.vmfb'], {
      env: { IREE_TUNED_BUDGET: '0' },
    });
    expect(explanation.operations).toMatchObject([{ outcome: 'hit' }]);
  },
);
