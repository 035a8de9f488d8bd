// The commands of `iree-tuned`, as a user types them.
// In full after a change of src/cli/doctor.ts, src/cli/failure.ts, src/cli/iree-tuned.ts.
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { root } from '../support/real-tools.ts';
import { oddMatmul, Workplace, TUNED } from './support.ts';

const say = (place: Workplace, argv: readonly string[], env = {}) => place.tuned(argv, { env });

test('prints its version', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const said = { code: 0, stdout: `${version}\n`, stderr: '' };
  expect(await say(new Workplace(), ['--version'])).toEqual(said);
  // With this variable Node colours printed values, and the launchers read a printed value.
  expect(await say(new Workplace(), ['--version'], { FORCE_COLOR: '1' })).toEqual(said);
});

/** A workplace with an input and an empty database. */
function placeWithDatabase(): Workplace {
  const place = new Workplace();
  place.write('in.mlir', oddMatmul);
  mkdirSync(dirname(place.database));
  place.inStore(() => undefined);
  return place;
}

test('rejects wrong arguments, with the right ones', async () => {
  const place = placeWithDatabase();
  place.write('broken.mlir', 'func.func @main() { return %x : }');
  const mistakes: [string[], RegExp, number][] = [
    [['tune', 'in.mlir', '--iree-x=1'], /unknown option '--iree-x=1'\n\(compiler flags follow --; /, 2],
    [['tune', 'in.mlir', '--budgett', '3'], /unknown option '--budgett'\n\(Did you mean --budget\?\)/, 2],
    [['tune', 'in.mlir', '--budget', 'soon'], /--budget=soon: it takes seconds, or a time such as 90s/, 2],
    [['tune', 'absent.mlir'], /absent\.mlir: the input cannot be read: there is no such file/, 1],
    [['explain', 'broken.mlir'], /^iree-tuned: broken\.mlir:1:32: error: /, 1],
    [['explain', '.'], /^iree-tuned: \. is a folder: name a file with MLIR in it$/m, 1],
    [['shim', 'in.mlir'], /in\.mlir is a file: name a folder/, 1],
    [['db', 'show', 'm=9999'], /no record matches "m=9999": iree-tuned db ls lists the records/, 1],
    [['tnue', 'in.mlir'], /unknown command 'tnue'\n\(Did you mean tune\?\)/, 2],
    [['tune'], /nothing to tune: name models/, 2],
    [['explain'], /missing required argument 'input'/, 2],
    [
      ['tune', 'in.mlir', '--strategy', 'luck'],
      /'luck' is invalid. Allowed choices are guided, descent, random, grid/,
      2,
    ],
    [
      ['tune', 'in.mlir', '--trials', '0'],
      /argument '0' is invalid. It must be a whole number of at least 1/,
      2,
    ],
  ];
  for (const [argv, message, ends] of casesOfTier(mistakes, 3)) {
    const { code, stdout, stderr } = await say(place, argv);
    expect({ argv, code, stdout }).toEqual({ argv, code: ends, stdout: '' });
    expect(stderr).toMatch(message);
  }
});

describe('an error outside the program is one line', () => {
  const place = placeWithDatabase();
  const faults: [string, string, RegExp][] = [
    ['a full disk', 'exec "$0" db ls >/dev/full', /the output cannot be written: ENOSPC: .*/],
    [
      'the same with a few words',
      'exec "$0" config --json >/dev/full',
      /the output cannot be written: ENOSPC: .*/,
    ],
    [
      'a cache folder that is none',
      'IREE_TUNED_CACHE=/dev/null/cache exec "$0" tune in.mlir',
      /\/dev\/null\/cache: a part of the path is not a folder/,
    ],
    [
      'a program that does not compile',
      `sed 's/return/"no.operation"() : () -> () return/' in.mlir >bad.mlir
IREE_TUNED_BUDGET=0 exec "$0" tune bad.mlir --verify-program`,
      /the program does not compile: (bad\.mlir:3:\d+: error: .*|the compiler ended by SIG[A-Z]+)/,
    ],
    [
      'a compiler that is not there',
      'IREE_TUNED_COMPILER=/nowhere exec "$0" tune in.mlir',
      /cannot find the real iree-compile\.\n(?:.+\n)+.*/,
    ],
  ];
  test.each(casesOfTier(faults, 3))('%s', async (_, command, message) => {
    const { code, stderr } = await place.run('/bin/sh', ['-c', command, TUNED]);
    expect(stderr).toMatch(new RegExp(`^iree-tuned: ${message.source}\n$`));
    expect(code).toBe(1);
  });
});

test('a reader that has gone ends a command without a message', async () => {
  const command = 'mkfifo gone; exec 3<>gone; exec 4>gone; exec 3<&-; exec "$0" db ls >&4';
  const ended = await placeWithDatabase().run('/bin/sh', ['-c', command, TUNED]);
  expect(ended).toMatchObject({ code: 1, stderr: '' });
});

test('the doctor finds every tool, and shows the way to install a missing one', async () => {
  const place = new Workplace();
  const well = await say(place, ['doctor']);
  expect(well).toMatchObject({ code: 0, stderr: '' });
  expect(well.stdout.trim().split('\n')).toHaveLength(9);
  expect(well.stdout).toMatch(/^ {16}class \S/m);
  expect(well.stdout).toMatch(/^ok {3}database .* records, on \S+$/m);
  expect(well.stdout).not.toContain('BAD');
  const ill = await say(place, ['doctor'], { IREE_TUNED_COMPILER: '/nowhere/iree-compile' });
  expect(ill.code).toBe(1);
  expect(ill.stdout).toMatch(/^BAD {2}compiler {3}cannot find the real iree-compile\.\n {16}Looked at:/m);
  expect(ill.stdout).toMatch(/^ {16}-> .*pip install iree-base-compiler.*IREE_TUNED_COMPILER/m);
});

test('the doctor finds misspelt variables', async () => {
  const { code, stdout } = await say(new Workplace(), ['doctor'], { IREE_TUNED_BUDGTE: '0' });
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /BAD {2}settings +IREE_TUNED_BUDGTE is not a setting \(did you mean IREE_TUNED_BUDGET\?\)/,
  );
});

test('the doctor gives the reason for a missing device, and the way out', { tags: 'full' }, async () => {
  const place = new Workplace();
  const bogus = await say(place, ['doctor'], { IREE_TUNED_DEVICE: 'bogus' });
  expect(bogus.code).toBe(1);
  expect(bogus.stdout).toMatch(
    /^BAD {2}device {5}device bogus has no tuner\n {16}-> set device to local-task, local-sync, cuda, hip, vulkan$/m,
  );
  const cuda = await say(place, ['doctor'], {
    IREE_TUNED_DEVICE: 'cuda',
    CUDA_VISIBLE_DEVICES: '',
  });
  expect(cuda.stdout).toMatch(
    /^BAD {2}device {5}no cuda device is found\n {16}-> install the GPU's driver$/m,
  );
  expect(await say(place, ['device', 'name', 'here'], { IREE_TUNED_DEVICE: 'bogus' })).toMatchObject({
    ...{ code: 1, stdout: '' },
    stderr:
      'iree-tuned: device bogus has no tuner: set device to local-task, local-sync, cuda, hip, vulkan\n',
  });
});

describe('tune', () => {
  test(
    'has the budget of the settings, unless the option sets one',
    { timeout: 120_000, tags: 'full' },
    async () => {
      const place = Workplace.simulated({}, { programs: 'failing' });
      place.write('in.mlir', oddMatmul);
      place.write('.iree-tuned.json', '{"budget": 0}');
      const tune = (options: readonly string[], env: Readonly<Record<string, string | undefined>>) =>
        place.tuned(['tune', 'in.mlir', '--trials', '2', ...options], { env });
      const untuned = await tune([], { IREE_TUNED_BUDGET: undefined });
      expect(untuned).toMatchObject({ code: 1, stderr: '' });
      expect(untuned.stdout).toMatch(/the tuning budget is spent$/m);
      expect(await tune([], { IREE_TUNED_BUDGET: 'soon' })).toMatchObject({ code: 2 });
      expect(await tune(['--budget', '40'], { IREE_TUNED_BUDGET: '0' })).toMatchObject({
        code: 0,
        stderr: '',
      });
    },
  );
});
