// `npm run check:gpu`: tests and benchmarks of the GPU backends on the devices of this machine.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deviceOf, TARGETS } from '../bench/gpu/targets.ts';
import {
  jsonFile,
  readArguments,
  run,
  say,
  secondsOption,
  wholeNumber,
  writeJson,
} from '../bench/shared/arguments.ts';
import { openWorkplace, root } from '../bench/shared/workplace.ts';

const USAGE = `usage: npm run check:gpu -- [--points N] [--budget SECONDS] [--json FILE]

Compiles candidates for every GPU target. Runs candidates, and the benchmark, on the devices that the runtime finds.

  --points  compile N random configurations of each search space of each target: 500 take hours
  --budget  seconds of tuning per case of the benchmark (default 30)
  --json    also write every value to FILE`;

/** llvmpipe is slow: a few cases of each kind. */
const SOFTWARE_CASES = ['128', 'nhwc-odd', 'nchw-odd'];

await run('check:gpu', async () => {
  const args = readArguments(['points', 'budget', 'json'], USAGE);
  const json = jsonFile(args);
  const budget = secondsOption(args, 'budget', 30);
  const points = String(wholeNumber(args, 'points', 0));
  // Tests that run candidates on a device belong to the full tier.
  const env = { ...process.env, GPU_POINTS: points, TEST_FULL: '1' };
  const place = await openWorkplace();
  const devices = new Map(
    await Promise.all(
      Object.entries(TARGETS).map(async ([name, target]) => [name, await deviceOf(target, place)] as const),
    ),
  );
  for (const [name, device] of devices)
    say(typeof device === 'string' ? `${name}: compiled only: ${device}` : `${name}: ${device.model}`);

  const succeeds = (argv: readonly string[]) =>
    spawnSync(process.execPath, argv, { cwd: root, stdio: 'inherit', env }).status === 0;
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const tests = succeeds([vitest, 'run', 'test/backend/gpu', 'test/backend/vulkan']);

  const benches: Record<string, unknown> = {};
  const failed = tests ? [] : ['tests'];
  mkdirSync(place.folder, { recursive: true });
  for (const [name, device] of devices) {
    if (typeof device === 'string') continue;
    const file = join(place.folder, `${name}.json`);
    const cases = device.gpu?.isSoftware === true ? SOFTWARE_CASES : [];
    const argv = ['bench/gpu.ts', ...cases, '--target', name, '--budget', String(budget), '--json', file];
    if (succeeds(['--conditions=source', ...argv])) benches[name] = JSON.parse(readFileSync(file, 'utf8'));
    else failed.push(`benchmark of ${name}`);
  }
  writeJson(json, {
    version: 1,
    date: new Date().toISOString(),
    devices: Object.fromEntries(devices),
    tests,
    benches,
  });
  if (failed.length > 0) say(`Failed: ${failed.join(', ')}`);
  process.exitCode = failed.length > 0 ? 1 : 0;
});
