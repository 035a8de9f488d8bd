// The same build with another release of the compiler, with another syntax of configurations. `npm run test:version -- 3.11.0` installs the
// release in .venv-3.11.0 and runs these tests with it.
// In full after a change of scripts/setup.sh, src/spec.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isBefore, type Release } from '../../src/compiler/release.ts';
import { compilerBelow } from '../support/scripts.ts';
import { root } from '../support/real-tools.ts';
import { recordMisses, workplace } from './faults/support.ts';
import { decisionsOf, HOST, oddMatmul, runMatmul, Workplace, argv } from './support.ts';

const other = process.env['IREE_TUNED_TEST_RELEASE'];

// test/inject/landing.test.ts covers the release of this checkout.
if (other !== undefined)
  describe(`IREE ${other}`, () => {
    const tool = (name: string) => join(root, `.venv-${other}`, 'bin', name);
    const env = { IREE_TUNED_COMPILER: tool('iree-compile') };

    test('a record lands, by a spec and inline, with the same results', async () => {
      const place = workplace(env);
      const build = (output: string, ...flags: string[]) =>
        place.explain([...HOST, 'in.mlir', '-o', output, ...flags]);
      // A runtime may refuse modules of another release.
      const run = (module: string) => runMatmul(place, module, 61, 67, 71, { tool: tool('iree-run-module') });
      expect((await build('default.vmfb', '--iree-tuned-on-miss=record')).code).toBe(0);
      recordMisses(place);
      const first = await build('first.vmfb');
      expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
      const hasSpecs = !isBefore((first.explanation.compiler as { release: Release }).release, 3, 11);
      expect(first.explanation).toMatchObject({ route: hasSpecs ? 'spec' : 'inline', applied: true });
      expect(first.explanation.operations).toMatchObject([{ outcome: 'hit' }]);
      const inline = await build('inline.vmfb', '--iree-tuned-inject=inline');
      expect(inline.explanation).toMatchObject({ route: 'inline', applied: true });
      expect(inline.explanation.operations).toMatchObject([{ outcome: 'hit' }]);
      const stock = await run('default.vmfb');
      expect(stock.code).toBe(0);
      for (const name of ['first.vmfb', 'inline.vmfb']) {
        expect(place.read(name).equals(place.read('default.vmfb'))).toBe(false);
        expect(await run(name)).toEqual(stock);
      }
    });

    test('a record of one compiler is not used for another', async () => {
      const place = Workplace.simulated();
      place.write('in.mlir', oddMatmul);
      expect((await place.tuned(['tune', 'in.mlir'])).code).toBe(0);
      const build = await place.explain(argv, {
        env: { ...env, IREE_TUNED_BUDGET: '0' },
      });
      expect(build.explanation.operations).toMatchObject([{ outcome: 'default' }]);
    });
  });

/** Gives the compiler of a place an unknown release, and other behaviour for some commands. */
function makeNewer(place: Workplace, pattern = '', deed = ''): void {
  const path = compilerBelow(place.path('tools'));
  const version = `IREE compiler version 99.1.0rc20991231 @ ${'9a'.repeat(20)}`;
  const cases = [
    `--version) echo '${version}'; exit 0 ;;`,
    ...(pattern === '' ? [] : [`${pattern}) ${deed} ;;`]),
  ];
  const [first, ...rest] = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, [first, `case "$*" in ${cases.join(' ')} esac`, ...rest].join('\n'));
}

test(
  'an unknown newer release is tuned like the newest known release',
  { tags: 'full', timeout: 120_000 },
  async () => {
    const place = Workplace.simulated();
    makeNewer(place);
    place.write('in.mlir', oddMatmul);
    expect(await place.built(argv)).toMatchObject({
      compiler: { version: '99.1.0rc20991231', release: [99, 1, 0], key: '99.1.0rc20991231@9a9a9a9a9a' },
      route: 'spec',
      applied: true,
      operations: [{ outcome: 'tuned' }],
    });
  },
);

test(
  'another build of the same commit verifies the record in one short race',
  { timeout: 120_000, tags: 'full' },
  async () => {
    const place = Workplace.simulated();
    place.write('in.mlir', oddMatmul);
    const build = async (env: Record<string, string> = {}) =>
      (await place.explain(argv, { env })).explanation;
    const first = await build();
    expect(first).toMatchObject({ operations: [{ outcome: 'tuned' }] });
    const name = process.platform === 'darwin' ? 'libIREECompiler.dylib' : 'libIREECompiler.so';
    writeFileSync(join(dirname(compilerBelow(place.path('tools'))), name), 'a debug build');
    expect(await build({ IREE_TUNED_BUDGET: '0' })).toMatchObject({ operations: [{ outcome: 'default' }] });
    expect(await build({ IREE_TUNED_BUDGET: '0', IREE_TUNED_TRUST: 'class' })).toMatchObject({
      operations: [
        { outcome: 'hit', reason: expect.stringMatching(/, with another build of this compiler$/) as string },
      ],
    });
    expect(await build()).toMatchObject({ operations: [{ outcome: 'tuned' }] });
    const trials = `SELECT c.key AS compiler, strategy FROM trial AS t
      JOIN subject AS s ON s.id = t.subject JOIN compiler AS c ON c.id = s.compiler WHERE c.key LIKE '%+%'`;
    const found = place.inDatabase(
      (database) => database.prepare(trials).all() as { compiler: string; strategy: string }[],
    );
    expect(found.map(({ strategy }) => strategy)).toEqual(['verification', 'verification']);
    expect(found[0]!.compiler).toMatch(/^[^+]+\+[0-9a-f]{10}$/);
  },
);

test('a release that accepts no injection builds without tuning, with the reason', async () => {
  const place = Workplace.simulated({}, { isRefusing: true });
  makeNewer(place, '*-spec*|*/inputs/*', "echo 'error: unknown attribute' >&2; exit 1");
  place.write('in.mlir', oddMatmul);
  const explanation = await place.built(argv);
  expect(explanation.route).toBe('none');
  expect(decisionsOf(explanation)).toEqual(['default: undecided']);
  expect(await place.isStock()).toBe(true);
});
