// With any fault of the installation, the user's own build runs.
// In full after a change of bin/iree-compile-tuned, scripts/build.mjs.
import { cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { casesOfTier } from '../../support/needs.ts';
import { program } from '../../support/scripts.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { giveAnswers } from '../../support/answers.ts';
import { Installation } from '../../support/installation.ts';
import { compiler } from '../../support/real-tools.ts';
import { HOST, matmulModule, Workplace, type Result } from '../support.ts';
import { misbehavingCompiler, recordedWorkplace } from './support.ts';

const first = 'dist/current/iree-compile-tuned.cjs';
const second = 'dist/current/compile-tuned.cjs';
const third = 'dist/current/run.cjs';
/** Bundles that no hit needs. */
const onDemand = 'dist/current/on-demand.cjs';
/** The bundle of settings files. */
const reader = 'dist/current/config-text.cjs';

/** Builds: with a matmul to tune, with an invalid input, and with an unknown flag. */
const commands: readonly { argv: readonly string[]; stdin: string }[] = [
  { argv: [...HOST, '-'], stdin: matmulModule(8, 8, 8) },
  { argv: [...HOST, '-'], stdin: 'func.func @main(' },
  { argv: ['--no-such-flag'], stdin: '' },
];

const place = new Workplace();

/**
 * A compiler that answers as the real one, and builds at once. The tests check its command lines and its messages.
 */
const quick = program(
  join(temporaryDirectory(), 'iree-compile'),
  `case "$*" in *--compile-to=* | *--iree-tuned-probe-* | --version | --help-hidden) exec '${compiler.executable}' "$@" ;; esac
echo "$@"; cat; echo said >&2; exit 3`,
);
const settings = { IREE_TUNED_COMPILER: quick };
giveAnswers(place.path('cache'), quick);

// The real compiler once, in a complete installation and in a broken one.
let stock: Result[];
beforeAll(async () => {
  const damaged = new Installation();
  rmSync(damaged.path(second));
  for (const { argv, stdin } of commands) {
    const real = await place.stock(argv, { stdin });
    const options = { stdin, env: { IREE_TUNED_BUDGET: '0' } };
    expect(await place.compile(argv, options)).toEqual(real);
    expect(await place.run(damaged.launcher, argv, options)).toEqual(real);
    expect(real.code).toBe(argv.length > 1 && stdin.endsWith('}\n') ? 0 : 1);
  }
  stock = await Promise.all(commands.map(({ argv, stdin }) => place.run(quick, argv, { stdin })));
  expect(stock.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    Array(3).fill({ code: 3, stderr: 'said\n' }),
  );
});

/** The first commands, or all commands, must give the same results as without us. */
async function expectStock({ launcher }: Installation, count = commands.length): Promise<void> {
  const ours = ['--iree-tuned-budget', '0', '--iree-tuned-readonly'];
  for (const [i, { argv, stdin }] of commands.slice(0, count).entries())
    expect(await place.run(launcher, [...ours, ...argv], { stdin, env: settings })).toEqual(stock[i]);
}

describe('a bundle', () => {
  const faults: Record<string, (path: string) => void> = {
    'is missing': (path) => {
      rmSync(path);
    },
    'is cut off': (path) => {
      truncateSync(path, Math.floor(readFileSync(path).length / 2));
    },
    'fails when it is loaded': (path) => {
      writeFileSync(path, 'throw undefined');
    },
    'is empty': (path) => {
      truncateSync(path);
    },
    'is cut off after a statement': (path) => {
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, text.slice(0, text.indexOf(';', text.length / 2) + 1));
    },
    'is garbage': (path) => {
      writeFileSync(path, Buffer.alloc(1000, '\0\xff{'));
    },
    'is something else': (path) => {
      writeFileSync(path, 'console');
    },
    'is a folder': (path) => {
      rmSync(path);
      mkdirSync(path);
    },
  };
  const all = Object.entries(faults).map(([name, fault]) => ({ name, fault }));
  /** Every bundle has these faults. Without the full tier the first bundle alone has more of them. */
  const main = casesOfTier(all, 1);

  test.concurrent.each([
    ...casesOfTier(all, 2).map((one) => ({ ...one, file: first })),
    ...main.map((one) => ({ ...one, file: second })),
  ])('$file that $name leaves the build to the compiler', async ({ file, fault }) => {
    const installation = new Installation();
    fault(installation.path(file));
    // A bundle that does not load has read nothing of the command.
    await expectStock(installation, 1);
  });

  test.concurrent.each(
    main.flatMap(({ name, fault }) => [
      { name, fault, broken: [third], files: third },
      { name, fault, broken: [second, third], files: 'each of them' },
    ]),
  )('$files that $name leaves the build to a compiler that is a script', async ({ fault, broken }) => {
    const installation = new Installation();
    for (const file of broken) fault(installation.path(file));
    const script = program(join(temporaryDirectory(), 'iree-compile'), 'echo "$@"; cat; exit 3');
    const env = { IREE_TUNED_COMPILER: script };
    const run = (...argv: string[]) => place.run(installation.launcher, argv, { env, stdin: 'input' });
    const expected = { code: 3, stdout: Buffer.from('-o x -\ninput'), stderr: '' };
    expect(await run('--iree-tuned-disable', '-o', 'x', '-')).toMatchObject(expected);
    if (broken.includes(second)) expect(await run('-o', 'x', '-')).toMatchObject(expected);
  });

  test.concurrent.each(main)(
    `${onDemand} that $name leaves the build to the compiler, though it was to be tuned`,
    async ({ fault }) => {
      const installation = new Installation();
      fault(installation.path(onDemand));
      const at = new Workplace({ ...settings, IREE_TUNED_LOG: 'log' });
      const { argv, stdin } = commands[0]!;
      expect(await at.run(installation.launcher, argv, { stdin })).toEqual(stock[0]);
      expect(at.read('log').toString()).not.toBe('');
    },
  );

  test('of settings files is loaded if there is a file, and without the bundle the compiler runs', async () => {
    const installation = new Installation();
    rmSync(installation.path(reader));
    const at = new Workplace({ IREE_TUNED_LOG: 'log', ...settings });
    const { argv } = commands[2]!;
    expect(await at.run(installation.launcher, argv)).toEqual(stock[2]);
    expect(at.read('log').toString()).not.toContain('Cannot find module');
    at.write('.iree-tuned.json', '{ "budget": 1 }');
    expect(await at.run(installation.launcher, argv)).toEqual(stock[2]);
    expect(at.read('log').toString()).toMatch(/Cannot find module .*: compiling without tuning\n$/);
  });

  test('without the binary of the database driver runs the compiler', async () => {
    const installation = new Installation();
    const driver = installation.path('node_modules/better-sqlite3');
    rmSync(driver);
    cpSync(new URL('../../../node_modules/better-sqlite3', import.meta.url), driver, {
      recursive: true,
      filter: (from) => !from.endsWith('.node'),
    });
    await expectStock(installation);
  });

  test.each([
    [first, [], /^\S+Z .*iree-compile-tuned\.cjs fails \(.+\): compiling without tuning\n$/],
    // The settings are read before.
    [second, ['--iree-tuned-log=log'], /^\S+Z .+; this build goes on without tuning\n$/],
  ])('%s that is broken is in the log', async (file, flags, line) => {
    const installation = new Installation();
    truncateSync(installation.path(file), 100);
    rmSync(place.path('log'), { force: true });
    const env = { ...settings, ...(flags.length === 0 && { IREE_TUNED_LOG: 'log' }) };
    await place.run(installation.launcher, [...flags, ...commands[2]!.argv], { env });
    expect(place.read('log').toString()).toMatch(line);
  });
});

describe('a fault of ours', () => {
  const faults = [
    [first, 'readProcess'],
    [first, 'recallRun'],
    [second, 'inspect'],
    [second, 'compileTuned'],
    [second, 'openDatabase'],
    [second, 'planCompile'],
    [first, 'splitFlags'],
    [first, 'readSettings'],
    [first, 'findCompiler'],
    [second, 'compile'],
    [second, 'readCommand'],
    [second, 'operationsOf'],
    [second, 'reportUntuned'],
  ] as const;
  test.concurrent.each(casesOfTier(faults, 2))('in %s, %s, runs the compiler', async (file, name) => {
    await expectStock(new Installation().damage(file, name));
  });

  test.concurrent.each([
    ['in a callback', 'setImmediate(() => { throw new Error("fault"); }); return new Promise(() => {});'],
    ['that never ends', 'return new Promise(() => {});'],
  ])('%s runs the compiler', async (_, deed) => {
    for (const name of casesOfTier(['compileTuned', 'inspect', 'operationsOf'], 1))
      await expectStock(new Installation().damage(second, name, deed));
  });

  test('after a tuned compile starts no second compile', async () => {
    const at = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
    const argv = [...HOST, 'in.mlir'];
    const expected = await at.compile(argv);
    rmSync(at.path('cache'), { recursive: true });
    for (const name of ['reportCompile', 'proveLanded']) {
      const { launcher } = new Installation().damage(second, name);
      expect(await at.run(launcher, argv)).toEqual(expected);
    }
  });

  test('after a fallback starts no further compile', { tags: 'full' }, async () => {
    const at = await recordedWorkplace();
    const deed = "echo 'in.mlir:2:3: error: no such thing' >&2; exit 1";
    const env = misbehavingCompiler(at, '*--iree-codegen-tuning-spec-path=*', deed);
    const argv = [...HOST, 'in.mlir'];
    const expected = await at.stock(argv);
    const { launcher } = new Installation().damage(second, 'ledgerEntryOf');
    expect(await at.run(launcher, argv, { env })).toEqual(expected);
  });
});
