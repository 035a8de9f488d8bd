// Commands and inputs before any lookup, without a compiler: the survey of each input is cached.
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { inputIdentity } from '../../src/compiler/command-identity.ts';
import type { Input } from '../../src/input/input.ts';
import { isTunable } from '../../src/input/operation.ts';
import { readInput } from '../../src/input/text.ts';
import { surveyMemory, type SurveyedOperation } from '../../src/input/survey-memory.ts';
import type { Settings } from '../../src/settings/index.ts';
import { describeSite, type NoSite, type Site } from '../../src/site/site.ts';
import { readStdin } from '../../src/system/bytes.ts';
import { createDigest } from '../../src/system/digest.ts';
import { inspect, inspectInput, untuned, type Untuned } from '../../src/wrapper/inspect.ts';
import { commandOf, keyOfMatmul, matmulText, siteOf, surroundingsOf } from '../support/inspected.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { matmul } from '../support/workloads.ts';
import { because, isReason, type ReasonCode } from '../../src/system/reason.ts';

// The stdin of the test is no input.
vi.mock(import('../../src/system/bytes.ts'), { spy: true });
vi.mock(import('../../src/input/text.ts'), { spy: true });
vi.mock(import('../../src/site/site.ts'), { spy: true });

const MATMUL = matmulText(8, 16, 32);
const KEY = keyOfMatmul(8, 16, 32);
const CONVOLUTION =
  '%r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %y : tensor<1x14x14x32xf32>, tensor<1x1x32x48xf32>) outs(%z : tensor<1x14x14x48xf32>) -> tensor<1x14x14x48xf32>\n';
const TORCH =
  '%r = torch.aten.mm %x, %y : !torch.vtensor<[8,32],f32>, !torch.vtensor<[32,16],f32> -> !torch.vtensor<[8,16],f32>\n';
const BYTECODE = Buffer.from('ML\xefR and the rest\n// iree-tuned: disable\n', 'latin1');

/** A file with this content and a command that compiles it. */
function place(content: string | Uint8Array, flags: readonly string[] = []) {
  const folder = temporaryDirectory();
  const path = join(folder, 'in.mlir');
  writeFileSync(path, content);
  return { path, command: commandOf(...flags, path, '-o', join(folder, 'out.vmfb')) };
}

/** Inspects an input. @param seen operations of an earlier build's survey */
async function read(
  content: string | Uint8Array,
  flags: readonly string[] = [],
  {
    seen,
    settings = {},
  }: { seen?: readonly Partial<SurveyedOperation>[]; settings?: Partial<Settings> } = {},
): Promise<Input | Untuned> {
  const { command } = place(content, flags);
  const surroundings = surroundingsOf(settings);
  if (seen !== undefined) {
    const digest = (await createDigest())([Buffer.from(content)]);
    surveyMemory.remember(surroundings.cacheDirectory, {
      identity: inputIdentity(command, digest),
      rewritables: [],
      operations: seen.map((one) => ({
        name: 'linalg.matmul',
        index: null,
        location: 'in.mlir:1:1',
        skipped: null,
        generated: { workload: matmul(8, 16, 32), loops: [0, 1, 2] },
        written: null,
        ...one,
      })),
      seconds: 1,
    });
  }
  return inspectInput(command, surroundings);
}

/** The same for an input that is tuned. */
async function taken(...given: Parameters<typeof read>): Promise<Input> {
  const input = await read(...given);
  if (isReason(input)) throw new Error(`passed on: ${input.reason}`);
  return input;
}

/** The key of each operation, or why it is skipped. */
const found = ({ operations }: Input) =>
  operations.map((operation) => (isTunable(operation) ? operation.key : operation.reason));

test('a command that is left to the compiler is passed on before its input is read', async () => {
  const command = commandOf('/nowhere/in.mlir', '--compile-to=flow');
  expect(await inspectInput(command, surroundingsOf())).toEqual(untuned(command.whyUntouched!));
});

describe('an input', () => {
  test('in linalg is read as written', async () => {
    const input = await taken(MATMUL);
    expect(found(input)).toEqual([KEY]);
    expect(input).toMatchObject({
      surveyed: false,
      waitedSeconds: 0,
      reading: {
        fromStdin: false,
        splits: false,
        dataTiling: false,
        ownPreprocessing: false,
        ownPipeline: false,
      },
    });
    expect(Buffer.from(input.bytes).toString()).toBe(MATMUL);
    expect(input.digest).toBe((await createDigest())([Buffer.from(MATMUL)]));
  });
  test('in linalg with a survey has the operations that the compiler generates', async () => {
    const generated = { workload: matmul(9, 16, 32), loops: [0, 1, 2] };
    const input = await taken(MATMUL, [], { seen: [{ index: 0, location: null, generated }] });
    expect(found(input)).toEqual([keyOfMatmul(9, 16, 32)]);
    expect(input.surveyed).toBe(true);
    expect(input.operations[0]!.place.operation?.name).toBe('linalg.matmul');
  });
  test.each([
    ['another dialect', TORCH],
    ['bytecode', BYTECODE],
  ])('in %s has the operations that the compiler generates', async (_, content) => {
    const input = await taken(content, [], { seen: [{}] });
    expect(found(input)).toEqual([KEY]);
    expect(input).toMatchObject({ surveyed: true, operations: [{ place: { location: 'in.mlir:1:1' } }] });
  });
  test('with a convolution has the operations that the compiler generates', async () => {
    const input = await taken(MATMUL + CONVOLUTION, [], {
      seen: [{ index: 0 }, { index: 1, name: 'linalg.conv_2d_nhwc_hwcf' }],
    });
    expect(found(input)).toEqual([KEY, KEY]);
  });
  test('with a convolution is read as written without a survey', async () => {
    const own = '--iree-preprocessing-transform-spec-filename=s';
    for (const flags of [[], [own]]) {
      const input = await taken(MATMUL + CONVOLUTION, flags);
      expect(found(input)).toEqual([KEY, 'convolutions of this form are not tuned yet']);
      expect(input.surveyed).toBe(false);
    }
  });
  test('with dynamic dimensions is tuned at the given sizes', async () => {
    const settings = { sizes: [[{ name: 'm', sizes: [1, 16] }]] };
    const [operation] = (await taken(matmulText('?', 16, 32), [], { settings })).operations;
    expect(operation).toMatchObject({ workload: { dimensions: [{ kind: 'm', sizes: [1, 16] }, {}, {}] } });
  });
  test.each([
    [['--iree-opt-data-tiling'], { dataTiling: true }],
    [['--iree-opt-data-tiling=false'], { dataTiling: false }],
    [['--iree-dispatch-creation-data-tiling=true'], { dataTiling: true }],
    [['--iree-global-opt-enable-early-data-tiling'], { dataTiling: true }],
    [['--iree-preprocessing-transform-spec-filename=s'], { ownPreprocessing: true }],
    [['--iree-preprocessing-pass-pipeline=p'], { ownPipeline: true }],
  ])('is read with the flags %j', async (flags, reading) => {
    expect((await taken(MATMUL, flags)).reading).toMatchObject(reading);
  });
});

test.each([
  '%d = hal.devices.get %c0 : !hal.device',
  '%f = hal.fence.create device(%d : !hal.device) flags("None")',
])('an input that gets a device at run time names no device: %s', async (line) => {
  expect((await taken(`// ${line}\n${MATMUL}`, [])).operations).toHaveLength(1);
});

test.each(['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'])('%s is left to the compiler', async (path) => {
  const command = commandOf(path, '-o', 'out.vmfb');
  expect(await inspectInput(command, surroundingsOf())).toMatchObject({
    ...because('input-not-a-file'),
  });
});

describe('an input is passed on', () => {
  test.each<[string, string | Uint8Array, readonly string[], ReasonCode]>([
    ['with the comment', `// iree-tuned: disable\n${MATMUL}`, [], 'disabled-by-comment'],
    ['that names its devices', `util.global @d = #hal.device.select<[]>\n${MATMUL}`, [], 'own-devices'],
    ['that names its target', `// hal.tensor, #hal.executable.target<"cuda">\n${MATMUL}`, [], 'own-devices'],
    [
      'of bytecode that names its devices',
      Buffer.concat([BYTECODE, Buffer.from('hal.device.target')]),
      [],
      'own-devices',
    ],
    ['without operations', 'func.func @main() { return }\n', [], 'nothing-to-tune'],
    ['that is empty', '', [], 'nothing-to-tune'],
  ])('%s, and is again the next time', async (_, content, flags, pass) => {
    expect(await read(content, flags)).toEqual({
      ...because(pass),
      decisions: [],
      input: expect.objectContaining({ bytes: Buffer.from(content), isWhole: true }) as object,
    });
  });
  test('that has nothing to tune, with its operations', async () => {
    const input = await read(matmulText('?', 16, 32) + CONVOLUTION, [
      '--iree-preprocessing-transform-spec-filename=s',
    ]);
    expect(input).toMatchObject({
      code: 'nothing-to-tune',
      reason: expect.stringContaining('need sizes, such as --iree-tuned-dim=m=1,16,128') as string,
      decisions: [
        { outcome: 'skipped', place: { name: 'linalg.matmul' } },
        { outcome: 'skipped', reason: 'convolutions of this form are not tuned yet' },
      ],
    });
  });
  test.each([
    ['of another dialect', TORCH, '--split-input-file', 'split-input'],
    ['of bytecode', BYTECODE, '--split-input-file', 'split-input'],
    ['of another dialect', TORCH, '--iree-preprocessing-transform-spec-filename=s', 'own-preprocessing'],
  ])('%s with a flag that is supported for linalg alone', async (_, content, flag, pass) => {
    expect(await read(content, [flag], { seen: [{}] })).toMatchObject({
      code: pass,
      input: undefined,
      decisions: [],
    });
  });
  test('that does not compile, this time only', async () => {
    expect(await read(TORCH)).toEqual(untuned(because('not-compiled')));
  });
  test('that is missing', async () => {
    const passed = await inspectInput(commandOf('/nowhere/in.mlir'), surroundingsOf());
    expect(passed).toEqual(
      untuned({
        code: 'input-unreadable',
        reason: expect.stringMatching(/^the input cannot be read: ENOENT/) as string,
      }),
    );
  });
  test('that has too much text beside its weights', async () => {
    vi.mocked(readInput).mockResolvedValueOnce(null);
    const { command } = place(MATMUL);
    expect(await inspectInput(command, surroundingsOf())).toEqual(
      untuned(because('input-too-large', 'the input has too much text beside its weights')),
    );
  });
  test('that is no plain file', async () => {
    const folder = join(temporaryDirectory(), 'folder');
    mkdirSync(folder);
    for (const path of ['/dev/null', folder])
      expect(await inspectInput(commandOf(path), surroundingsOf())).toEqual(
        untuned(because('input-not-a-file')),
      );
  });
});

test.each([
  ['has a name like a device', '%0 = hal.tensor.import %arg0 : !hal.buffer_view\n'],
  ['has the comment in the middle of a line', '%s = "a" // and iree-tuned: disable\n'],
])('an input that %s is inspected', async (_, line) => {
  expect(found(await taken(line + MATMUL))).toEqual([KEY]);
});

test('parameter files count for the memory of a compile', async () => {
  const parameters = join(temporaryDirectory(), 'model.irpa');
  writeFileSync(parameters, '');
  const flags = [`--iree-parameter-import=model=${parameters}`];
  expect(await read(MATMUL, flags)).toMatchObject({ isHuge: false });
  // A sparse file.
  truncateSync(parameters, totalmem());
  expect(await read(MATMUL, flags)).toMatchObject({ isHuge: true });
});

describe('stdin', () => {
  const piped = async (content: string) => {
    vi.mocked(readStdin).mockReturnValueOnce(Buffer.from(content));
    return inspectInput(commandOf('-', '-o', 'out.vmfb'), surroundingsOf());
  };
  test('is an input like a file', async () => {
    const input = (await piped(MATMUL)) as Input;
    expect(found(input)).toEqual([KEY]);
    expect(input.reading.fromStdin).toBe(true);
  });
  test('that breaks off is passed on', async () => {
    vi.mocked(readStdin).mockImplementationOnce(() => {
      throw new Error('EIO');
    });
    expect(await inspectInput(commandOf('-'), surroundingsOf())).toEqual(
      untuned(because('input-unreadable', 'the input cannot be read: EIO')),
    );
  });
});

test('an input is inspected if it has a site, and passed on otherwise', async () => {
  const { command } = place(MATMUL);
  const inspectedAt = (site: Site | NoSite) => {
    vi.mocked(describeSite).mockResolvedValueOnce(site);
    return inspect(command, surroundingsOf());
  };
  const site = siteOf();
  const read = await inspectInput(command, surroundingsOf());
  expect(await inspectedAt(site)).toMatchObject({
    inspected: { input: { digest: (read as Input).digest }, site },
  });
  const target = { target: site.target.target, key: site.target.key };
  const noSite = because('several-targets');
  expect(await inspectedAt({ ...noSite, targets: [] })).toEqual(untuned(noSite));
  expect(await inspectedAt({ ...noSite, targets: [target] })).toEqual({
    ...noSite,
    targets: [target],
  });
});
