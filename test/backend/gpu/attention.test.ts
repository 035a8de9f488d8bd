// Attentions on CUDA and HIP: reading the compiler's configuration, the search space, and other tiles in the text.
import { beforeAll, describe, expect, test } from 'vitest';
import { SCHEMA, type AttentionConfiguration } from '../../../src/backend/gpu/configuration.ts';
import { reconfigured } from '../../../src/backend/gpu/attention.ts';
import { loadBackends } from '../../../src/backend/index.ts';
import { rocm } from '../../../src/backend/rocm/index.ts';
import { isOfSchema } from '../../../src/backend/schema.ts';
import { pointOf } from '../../../src/search/space.ts';
import type { DispatchWork } from '../../../src/workload/dispatch/dispatch-work.ts';
import { dispatchWork } from '../../../src/workload/dispatch/from-configured.ts';
import { isDispatchWork } from '../../../src/workload/dispatch/index.ts';
import { drawn } from '../drawn.ts';
import { CONFIGURED } from './attention-texts.ts';
import { gpuOptions } from './targets.ts';

beforeAll(loadBackends);

const PLACE = { executable: 'main_dispatch_0', digest: '0123456789abcdef', bytes: 1 };
const work = dispatchWork(CONFIGURED, PLACE) as DispatchWork;

const OTHER: AttentionConfiguration = {
  ...{ version: 1, kind: 'attention-tile', subgroupSize: 64 },
  ...{ workgroup: [1, 128, 32, 0, 0], reduction: [0, 0, 0, 0, 32], subgroups: [1, 2, 1, 1, 1] },
};

test('an attention has the matrix instructions of its two products along its dimensions', () => {
  expect(work).toMatchObject({
    name: 'attention_12x128x64x64x128',
    pipeline: 'VectorDistribute',
    lane: 2,
    // Rows, columns of values, elements of a key, keys.
    matrix: { unit: [1, 16, 16, 32, 16], elementType: 'f16', chained: true },
  });
  expect(work.dimensions.map(({ kind, size }) => `${kind}${size}`).join()).toBe('m12,m128,m64,k64,k128');
  expect(isDispatchWork(JSON.parse(JSON.stringify(work)) as object)).toBe(true);
});

test.each([
  ['more than data', { ...work.matrix, more: 1 }],
  ['an instruction less', { ...work.matrix, unit: [1, 16, 16, 32] }],
  ['an instruction of no element', { ...work.matrix, unit: [1, 16, 0, 32, 16] }],
  ['a type that is no type', { ...work.matrix, elementType: '} {' }],
  ['no answer about the weights', { ...work.matrix, chained: 1 }],
])('matrix instructions from a database with %s are refused', (_, matrix) => {
  expect(isDispatchWork({ ...work, matrix })).toBe(false);
});

describe('is left alone:', () => {
  test('an attention without matrix instructions, which has other tiles', () => {
    expect(dispatchWork(CONFIGURED.replaceAll(/mma_kind = [^>]*>, /g, ''), PLACE)).toEqual({
      code: 'dispatch-unsupported',
      reason: expect.stringMatching(/matrix instructions/) as string,
    });
  });
  test.each([
    ['keys that threads cannot share evenly', 'x64xf16', 'x96xf16'],
    ['a dynamic number of queries', '<12x128x', '<12x?x'],
  ])('an attention with %s', (_, from, to) => {
    const other = dispatchWork(CONFIGURED.replaceAll(from, to), PLACE) as DispatchWork;
    expect(rocm.tuning(other).families({ wholeProgram: false })).toEqual([]);
    expect(rocm.tuning(other).space(gpuOptions('gfx942')).knobs).toEqual([]);
  });
});

test('another configuration changes the tiles, the subgroups of both products and the threads', () => {
  const text = reconfigured(CONFIGURED, work, OTHER)!;
  expect(text).toContain('workgroup_size = [128, 1, 1] subgroup_size = 64');
  expect(text).toContain('reduction = [0, 0, 0, 0, 32], workgroup = [1, 128, 32, 0, 0]');
  expect(text.match(/subgroup_basis = \[\[1, 2, 1, 1, 1\]/g)).toHaveLength(2);
  // The compiler's dump identifies the configuration by this text.
  expect(reconfigured(text, work, OTHER)).toBe(text);
  expect(reconfigured(CONFIGURED.replaceAll('x128x64xf', 'x256x64xf'), work, OTHER)).toBeNull();
  expect(reconfigured(CONFIGURED, work, { ...OTHER, kind: 'shared-sum', thread: [], lanes: [] })).toBeNull();
});

test.each(['gfx942', 'gfx1100'])(
  'every configuration for %s can be stored and leads back to its point',
  (gpu) => {
    const space = rocm.tuning(work).space(gpuOptions(gpu));
    const found = drawn(space, 5, 300) as AttentionConfiguration[];
    expect(space.starts.length).toBeGreaterThan(4);
    expect(new Set(found.map((one) => JSON.stringify(one))).size).toBeGreaterThan(30);
    for (const configuration of found) {
      expect(rocm.schema.columns(work, configuration)).toMatchObject({
        summed_k4: configuration.reduction[4],
      });
    }
  },
);

test('weights that do not stay in registers need shared memory', () => {
  const apart = { ...work, matrix: { ...work.matrix!, chained: false } };
  const space = rocm.tuning(work).space(gpuOptions('gfx942'));
  const point = pointOf(space, {
    ...OTHER,
    ...{ workgroup: [1, 128, 64, 0, 0], reduction: [0, 0, 0, 0, 128], subgroups: [1, 4, 1, 1, 1] },
  })!;
  expect(space.configurationAt(point)).not.toBeNull();
  expect(rocm.tuning(apart).space(gpuOptions('gfx942')).configurationAt(point)).toBeNull();
});

test('a configuration with a split subgroup, or with more threads than any GPU, is no configuration', () => {
  expect(isOfSchema(SCHEMA, OTHER, 5)).toBe(true);
  expect(isOfSchema(SCHEMA, { ...OTHER, subgroups: [1, 3, 1, 1, 1] }, 5)).toBe(false);
  expect(isOfSchema(SCHEMA, { ...OTHER, subgroups: [1, 32, 1, 1, 1] }, 5)).toBe(false);
});
