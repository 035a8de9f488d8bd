// One cache folder, several machines: processors of one model with different features.
// In full after a change of src/backend/llvm-cpu/cpu.ts.
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { recordedWorkplace } from './faults/support.ts';
import { HOST, type Workplace } from './support.ts';

/** An environment in which a file of the workplace describes the processors. */
function withProcessors(place: Workplace, name: string, text: string): Record<string, string> {
  place.write(name, text);
  place.write(
    'processors.cjs',
    `const fs = require('node:fs');
const { openSync } = fs;
fs.openSync = (path, ...rest) => openSync(path === '/proc/cpuinfo' ? process.env.PROCESSORS : path, ...rest);
`,
  );
  return { NODE_OPTIONS: `--require=${place.path('processors.cjs')}`, PROCESSORS: place.path(name) };
}

describe.runIf(process.platform === 'linux')('a processor without a feature of another processor', () => {
  const described = readFileSync('/proc/cpuinfo', 'latin1');
  const known = 'a'.repeat(4096);
  const features = [
    ['with more features than fit on a page', ` ${known} fma `],
    ['with few features', ' fma '],
  ] as const;
  test.each(casesOfTier(features, 1))('%s gets a target of its own', async (_, flags) => {
    const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
    const { compiler, ran } = place.watchedTools();
    const processors = (features: string) =>
      described.replaceAll(/^(flags|Features)(\s*: ).*/gm, `$1$2fpu${features}`);
    const whole = withProcessors(place, 'whole', processors(flags));
    const masked = withProcessors(place, 'masked', processors(flags.replace(' fma', '')));
    const build = async (env: Record<string, string>, output: string) => {
      const argv = [...HOST, 'in.mlir', '-o', output];
      const result = await place.compile(argv, { env: { ...env, IREE_TUNED_COMPILER: compiler } });
      expect(result).toMatchObject({ code: 0, stderr: '' });
      return { probes: ran().filter((line) => line.includes('--compile-to=preprocessing')).length };
    };

    const first = await build(whole, 'out.vmfb');
    expect(first.probes).toBeGreaterThan(0);
    expect(await build(whole, 'out.vmfb')).toEqual({ probes: 0 });
    expect(await build(whole, 'other.vmfb')).toEqual({ probes: 0 });

    expect(await build(masked, 'out.vmfb')).toEqual(first);
    expect(await build(masked, 'out.vmfb')).toEqual({ probes: 0 });
    expect(await build(masked, 'other.vmfb')).toEqual({ probes: 0 });
    // A proof on one processor does not hold for the other.
    expect(readdirSync(place.path('cache/plans'))).toHaveLength(2);
  });
});
