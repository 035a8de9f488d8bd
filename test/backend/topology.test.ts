// The device has as many threads as the runtime has workers, also on simulated machines.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { physicalCores } from '../../src/system/processor.ts';
import { runtimeTool } from '../support/installed-tools.ts';
import { describedTopology, threadsOf, type Topology } from '../support/topology.ts';

test.each<[string, Topology, number]>([
  ['a laptop', { nodes: 1, cores: 8, perCore: 1 }, 8],
  ['a workstation', { nodes: 1, cores: 16, perCore: 2 }, 16],
  ['a server of two nodes', { nodes: 2, cores: 32, perCore: 2 }, 32],
  ['a virtual machine of two nodes', { nodes: 2, cores: 4, perCore: 1 }, 4],
  ['a processor of more cores than the runtime takes', { nodes: 1, cores: 96, perCore: 2 }, 64],
])('%s', (_, topology, workers) => {
  const folder = describedTopology(topology);
  expect(physicalCores(folder, topology.perCore, threadsOf(topology))).toBe(workers);
  // The dump depends on the flags before it.
  const flags = [`--task_topology_snapshot=${folder}`, '--dump_task_topologies'];
  const { stdout, status } = spawnSync(runtimeTool('iree-run-module'), flags, { encoding: 'utf8' });
  expect(status).toBe(0);
  expect(
    [...stdout.matchAll(/^# topology\[\d+\]: (\d+) worker groups/gm)].map(([, count]) => Number(count)),
  ).toEqual([workers]);
});

test('this machine', () => {
  const { stdout } = spawnSync(runtimeTool('iree-run-module'), ['--dump_task_topologies'], {
    encoding: 'utf8',
  });
  expect(stdout).toContain(`: ${physicalCores()} worker groups`);
});
