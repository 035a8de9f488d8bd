// Times of the dispatches of a program on a Vulkan device.
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { loadBackend } from '../../src/backend/index.ts';
import { timeModule, type ModuleRun } from '../../src/measure/compare-modules.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { compiler, runtimeTool } from '../support/real-tools.ts';
import { LLVMPIPE_FLAGS, whyNoVulkan } from '../support/vulkan.ts';

const SQUARE = 'tensor<96x96xf32>';
/** Three products. */
const PROGRAM = `func.func @main(%a: ${SQUARE}, %b: tensor<96x32xf32>) -> tensor<96x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : ${SQUARE}
  %i = linalg.fill ins(%zero : f32) outs(%e : ${SQUARE}) -> ${SQUARE}
  %c = linalg.matmul ins(%a, %a : ${SQUARE}, ${SQUARE}) outs(%i : ${SQUARE}) -> ${SQUARE}
  %d = linalg.matmul ins(%c, %a : ${SQUARE}, ${SQUARE}) outs(%i : ${SQUARE}) -> ${SQUARE}
  %f = tensor.empty() : tensor<96x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<96x32xf32>) -> tensor<96x32xf32>
  %r = linalg.matmul ins(%d, %b : ${SQUARE}, tensor<96x32xf32>) outs(%j : tensor<96x32xf32>) -> tensor<96x32xf32>
  return %r : tensor<96x32xf32>
}
`;
const EFFORT = { repetitions: 1, minSeconds: 0.05, timeoutSeconds: 60 };

beforeAll(() => loadBackend('vulkan-spirv'));

/** A call of the program with these tools. */
const runWith = (benchmarkModule: string): ModuleRun => ({
  ...{ tools: { benchmarkModule }, function: { name: 'main' } },
  device: { model: 'llvmpipe', driver: 'vulkan', threads: 2, cachesKiB: [] },
  inputs: ['96x96xf32=0.1', '96x32xf32=1'],
});

test.skipIf(isWithout(whyNoVulkan()))('the profile has the time and calls of each dispatch', async () => {
  const folder = temporaryDirectory();
  const [source, module] = [join(folder, 'in.mlir'), join(folder, 'out.vmfb')];
  writeFileSync(source, PROGRAM);
  execFileSync(compiler.executable, [source, ...LLVMPIPE_FLAGS, '-o', module]);
  const run = runWith(runtimeTool('iree-benchmark-module'));
  const { seconds, dispatches } = await timeModule(run, module, EFFORT, true);
  const found = [...dispatches].map(([name, { calls }]) => `${name} ${calls}`).sort();
  expect(found).toEqual([
    'main_dispatch_0_matmul_96x96x96_f32 1',
    'main_dispatch_1_matmul_96x96x96_f32 1',
    'main_dispatch_2_matmul_96x32x96_f32 1',
  ]);
  for (const { seconds: own } of dispatches.values()) expect(own).toBeGreaterThan(0);
  expect(seconds).toBeGreaterThan(0);
  // The profile is gone.
  expect(readdirSync(folder).sort()).toEqual(['in.mlir', 'out.vmfb']);
  expect((await timeModule(run, module, EFFORT)).dispatches.size).toBe(0);
});

test('a driver without profiles still times the program, and fails once', async () => {
  const folder = temporaryDirectory();
  const [tool, log] = ['iree-benchmark-module', 'log'].map((name) => join(folder, name)) as [string, string];
  writeFileSync(
    tool,
    `#!/bin/sh
echo "$*" >>${log}
case "$*" in *--device_profiling*) echo 'UNIMPLEMENTED; unsupported profiling data families 0x8' >&2; exit 1 ;; esac
echo '{"benchmarks": [{"name": "BM_main/process_time/real_time", "run_type": "iteration", "real_time": 3, "time_unit": "ms"}]}'
`,
  );
  chmodSync(tool, 0o755);
  for (let call = 0; call < 3; call++) {
    const times = await timeModule(runWith(tool), 'in.vmfb', EFFORT, true);
    expect(times).toEqual({ seconds: 0.003, dispatches: new Map() });
  }
  const calls = readFileSync(log, 'utf8').trim().split('\n');
  expect(calls.filter((call) => call.includes('--device_profiling'))).toHaveLength(1);
  expect(calls).toHaveLength(4);
});
