// A backend of a few lines in a whole compile: VMVX, with the workgroup tile as its only knob.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Backend } from '../../src/backend/backend.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import { addBackend } from '../../src/backend/index.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { isLevel } from '../../src/backend/schema.ts';
import { readCommand } from '../../src/compiler/command.ts';
import { lookUp } from '../../src/decision/look-up.ts';
import { proveLanded } from '../../src/inject/landed.ts';
import { checkedAlone, referenceAlone } from '../../src/measure/verify-candidates.ts';
import { loadedWith } from '../../src/measure/common-modules.ts';
import { buildCandidates } from '../../src/measure/build.ts';
import { candidateOf, stockCandidate } from '../../src/measure/candidate-module.ts';
import { injectedCommand } from '../../src/plan/injected-command.ts';
import { planCompile } from '../../src/plan/route.ts';
import { isReason } from '../../src/system/reason.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import { subjectOf } from '../../src/store/subject.ts';
import { isOperationWork, type OperationWork } from '../../src/workload/workload.ts';
import { inspect } from '../../src/wrapper/inspect.ts';
import { matmulModule } from '../scenarios/support.ts';
import { DECISION } from '../store/samples.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { surroundingsOf } from '../support/inspected.ts';
import { compiler, toolchain } from '../support/real-tools.ts';

/** The test's backend has no type of configuration. */
interface Small {
  readonly version: 1;
  readonly kind: 'small-tile';
  readonly tile: readonly number[];
}

const KIND = 'small-tile' as Exclude<Configuration['kind'], 'default'>;
const small = (tile: readonly number[]) => ({ version: 1, kind: KIND, tile }) as unknown as Configuration;
const tileOf = (configuration: unknown) => (configuration as Small).tile;
const lowering = (tile: readonly number[]) =>
  `#iree_cpu.lowering_config<distribution = [${tile.join(', ')}]>`;

const vmvx: Backend = {
  // Devices and users' knobs are the CPU's.
  ...llvmCpu,
  name: 'vmvx',
  devices: {
    ...llvmCpu.devices,
    whyNotRunnable: () => Promise.resolve(null),
    hardwareOf: () => ({ nativeVectorBytes: 0, vectorRegisters: 0, threads: 1 }),
  },
  schema: {
    kinds: { [KIND]: { required: ['tile'] } },
    fields: { tile: { check: isLevel, label: 'tile' } },
    columns: () => ({}),
  },
  tuning: () => ({
    unsupported: null,
    families: () => ['small-tile'],
    space: () => ({
      knobs: [{ name: 'rows', values: [8, 16, 32] }],
      starts: [[0]],
      alternatives: [],
      configurationAt: ([rows]) => small([[8, 16, 32][rows!]!, 32, 0]),
      valuesOf: (configuration) => [tileOf(configuration)[0]!],
    }),
  }),
  rendering: {
    specFlag: 'tuning-spec',
    directive: (configuration) => ({
      attribute: 'compilation_info',
      value: `#iree_codegen.compilation_info<lowering_config = ${lowering(tileOf(configuration))}, translation_info = #iree_codegen.translation_info<pipeline = #iree_codegen.vmvx_pipeline>>`,
    }),
    landedOn: (configured, _, configuration) =>
      configured.filter((one) => one.lowering === lowering(tileOf(configuration))),
  },
};
delete (vmvx as { wholeProgram?: unknown }).wholeProgram;

const FLAGS = ['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=vmvx'];

beforeAll(() => {
  addBackend(vmvx);
});

test('a configuration of a backend of a few lines is looked up, injected and lands', async () => {
  const surroundings = surroundingsOf({ inject: 'inline' });
  const folder = temporaryDirectory();
  const path = join(folder, 'in.mlir');
  writeFileSync(path, matmulModule(48, 64, 40));
  const argv = [...FLAGS, path, '-o', join(folder, 'out.vmfb')];
  const command = await readCommand(argv, compiler, surroundings);
  const program = await inspect(command, surroundings);
  if (isReason(program)) throw new Error(program.reason);
  const { input, site } = program.inspected;
  expect(site).toMatchObject({ whyNotHere: null, device: { driver: 'local-task' } });

  const store = openSqliteStore(join(folder, 'tuning.db'));
  const before = lookUp(store, input, site, surroundings.settings);
  expect(before.misses).toHaveLength(1);
  const [miss] = before.misses;
  const first = vmvx.tuning(miss!.workload).space(miss!.options).configurationAt([1])!;
  store.putRecord(subjectOf(miss!, site), { ...DECISION, configuration: first });
  const decisions = lookUp(store, input, site, surroundings.settings).decide(new Map());
  store.close();
  expect(decisions[0]).toMatchObject({ outcome: 'hit', configuration: small([16, 32, 0]) });

  const plan = planCompile(program, decisions, surroundings);
  expect(plan.injection.route).toBe('inline');
  const injected = await injectedCommand(plan, surroundings);
  // The pipeline takes no specs, so the program gets the configuration.
  const asking = { env: process.env, cacheDirectory: surroundings.cacheDirectory };
  const landed = await proveLanded(injected!, asking);
  expect(landed).toEqual([true]);

  // The candidates compile together, and compute the right result.
  const tools = { ...(await toolchain(folder)), flags: FLAGS };
  const { workload } = miss!;
  expect(isOperationWork(workload)).toBe(true);
  const shape = workload as OperationWork;
  const own = candidateOf('c0', first, shape, tools.release);
  const { module, refused } = await buildCandidates(tools, shape, [stockCandidate('stock'), own], 'small');
  expect(refused).toEqual(new Map());
  const modules = (await loadedWith(tools, shape, module!))!;
  const reference = (await referenceAlone(tools, shape, modules, 'stock'))!;
  const right = new Map([['c0', expect.objectContaining({ outcome: 'right' })]]);
  expect(await checkedAlone(tools, shape, modules, ['c0'], reference)).toEqual(right);
});
