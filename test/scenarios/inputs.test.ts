// Inputs in every dialect of the compiler: the same matmul is tuned once, and its configuration lands in each.
import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { runtimeTool } from '../support/real-tools.ts';
import { dialects } from './dialects.ts';
import { HOST, matmulModule, oddMatmul, Workplace } from './support.ts';
import { problemsOf } from '../support/explain-schema.ts';

/** Sums of small integers are exact. */
const numbers = (length: number) => Float32Array.from({ length }, (_, i) => ((i * 7919) % 13) - 6);

const dialect = (name: string) => dialects.find(([one]) => one === name)![1];

describe('an input', () => {
  // The verdict on the whole program does not depend on its dialect.
  const place = Workplace.simulated({}, { programs: 'failing' });
  beforeAll(() => {
    writeFileSync(place.path('a.bin'), numbers(61 * 71));
    writeFileSync(place.path('b.bin'), numbers(71 * 67));
    writeFileSync(place.path('c.bin'), new Float32Array(61 * 67));
  });

  async function outputOf(module: string, name: string): Promise<Buffer> {
    const [a, b] = name === 'tosa' ? ['1x61x71', '1x71x67'] : ['61x71', '71x67'];
    const init = name === 'linalg' || name === 'bytecode' ? ['--input=61x67xf32=@c.bin'] : [];
    const result = await place.run(runtimeTool('iree-run-module'), [
      `--module=${module}`,
      '--device=local-sync',
      '--function=main',
      `--input=${a}xf32=@a.bin`,
      `--input=${b}xf32=@b.bin`,
      ...init,
      '--output=@out.bin',
    ]);
    expect(result.stderr).toBe('');
    return place.read('out.bin');
  }

  async function expectTuned(file: string, name: string): Promise<void> {
    const tuned = await place.explain([...HOST, file, '-o', 'tuned.vmfb']);
    expect(tuned).toMatchObject({ code: 0, stderr: '' });
    expect(tuned.explanation).toMatchObject({ applied: true, reason: null });
    const [operation, ...others] = tuned.explanation.operations;
    expect(others).toEqual([]);
    expect(operation!.workload).toMatch(/m=61 n=67 k=71 f32,f32->f32/);
    expect(operation!.speedup!.low).toBeGreaterThan(1);

    expect((await place.stock([...HOST, file, '-o', 'stock.vmfb'])).code).toBe(0);
    expect(place.read('tuned.vmfb').equals(place.read('stock.vmfb'))).toBe(false);
    expect((await outputOf('tuned.vmfb', name)).equals(await outputOf('stock.vmfb', name))).toBe(true);

    // The next build is a replay.
    const again = await place.explain([...HOST, file, '-o', 'again.vmfb']);
    expect(again.explanation.operations).toMatchObject([{ outcome: 'hit' }]);
    expect(place.read('again.vmfb').equals(place.read('tuned.vmfb'))).toBe(true);
  }

  // The first dialect of the list is in database-alone.test.ts.
  const [first, ...others] = dialects;
  test.each(casesOfTier([...others, first!], 1))('in %s is tuned', async (name, text) => {
    await expectTuned(place.write(`${name}.mlir`, text), name);
  });

  test('in bytecode is tuned', async () => {
    place.write('text.mlir', oddMatmul);
    const { code } = await place.stock([
      'text.mlir',
      '--compile-to=input',
      '--emit-mlir-bytecode',
      '-o',
      'bytecode.mlir',
    ]);
    expect(code).toBe(0);
    expect(place.read('bytecode.mlir').subarray(0, 4).toString('latin1')).toBe('MLïR');
    await expectTuned('bytecode.mlir', 'bytecode');
  });

  test('in torch gets the location of each operation', async () => {
    place.write('torch.mlir', dialect('torch'));
    const { explanation } = await place.explain([...HOST, 'torch.mlir', '-o', 'tuned.vmfb'], {
      env: { IREE_TUNED_BUDGET: '0' },
    });
    expect(explanation.operations).toMatchObject([{ location: 'torch.mlir:2:8' }]);
  });

  test('is explained with its source and its landed configurations', { tags: 'full' }, async () => {
    const { code, stdout, stderr } = await place.tuned(['explain', 'torch.mlir']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.toString()).toMatch(
      /^torch\.mlir:2:8 {2}linalg\.matmul\n {3}2 \| .*%r = torch\.aten\.mm .*\n {5}\| +\^~*\n {2}contraction m=61 n=67 k=71 .*\n {2}hit: .*faster.*\n {2}.*\n {2}seen in the executables\n\nInjected by /,
    );
    const json = JSON.parse(
      (await place.tuned(['explain', 'torch.mlir', '--json'])).stdout.toString(),
    ) as object;
    expect(json).toMatchObject({ operations: [{ outcome: 'hit', code: 'faster' }] });
    expect(problemsOf(json, 'preview')).toBe('');
  });

  const transposed = (m: number) => {
    const [a, t, o] = [`tensor<71x${m}xf32>`, `tensor<${m}x71xf32>`, `tensor<${m}x67xf32>`];
    return `func.func @main(%a: ${a}, %b: tensor<71x67xf32>, %init: ${o}) -> ${o} {
  %e = tensor.empty() : ${t}
  %t = linalg.transpose ins(%a : ${a}) outs(%e : ${t}) permutation = [1, 0]
  %r = linalg.matmul ins(%t, %b : ${t}, tensor<71x67xf32>) outs(%init : ${o}) -> ${o}
  return %r : ${o}
}
`;
  };
  const asGenerated = (m: number) => ({
    operation: 'linalg.matmul',
    workload: `contraction m=${m} n=67 k=71 f32,f32->f32 km,kn->mn`,
  });

  test('with operations that the compiler rewrites is tuned for the generated operations', async () => {
    place.write('transposed.mlir', transposed(62));
    const tuned = await place.explain([...HOST, 'transposed.mlir', '-o', 'tuned.vmfb']);
    expect(tuned).toMatchObject({ code: 0, stderr: '' });
    expect(tuned.explanation.applied).toBe(true);
    expect(tuned.explanation.operations).toMatchObject([
      { ...asGenerated(62), location: 'transposed.mlir:4:8', outcome: 'tuned' },
    ]);
  });

  test('with unit dimensions is tuned for the folded operations', { tags: 'full' }, async () => {
    place.write('unit.mlir', matmulModule(1, 67, 71));
    const tuned = await place.explain([...HOST, '--iree-opt-level=O2', 'unit.mlir', '-o', 'tuned.vmfb']);
    expect(tuned).toMatchObject({ code: 0, stderr: '' });
    expect(tuned.explanation.applied).toBe(true);
    expect(tuned.explanation.operations).toMatchObject([
      {
        location: 'unit.mlir:2:13',
        workload: 'contraction n=67 k=71 f32,f32->f32 k,kn->n',
        outcome: 'tuned',
      },
    ]);
  });

  test(
    'with large weights is tuned, run as a whole, and injected without a copy',
    { tags: 'full' },
    async () => {
      const digits = Buffer.alloc(2 ** 25 + 2 ** 23, '0123456789abcdef');
      const text = oddMatmul.replace(
        '{\n',
        '{\n  %w = arith.constant dense_resource<w> : tensor<16x256x1024xf32>\n',
      );
      expect(text).toContain('dense_resource');
      const resources = [
        '{-# dialect_resources: { builtin: { w: "0x04000000',
        digits,
        digits,
        digits,
        digits.subarray(0, 2 ** 23),
      ];
      place.write(
        'large.mlir',
        Buffer.concat([text, ...resources, '" } } #-}\n'].map((part) => Buffer.from(part))),
      );
      const argv = [...HOST, 'large.mlir', '-o', 'tuned.vmfb'];
      const { code, explanation } = await place.explain(argv);
      expect(code).toBe(0);
      expect(explanation).toMatchObject({
        route: 'spec',
        applied: true,
        // The program runs, which the simulated runtime of this test refuses.
        program: { functions: [{ name: 'main' }] },
        command: expect.arrayContaining(['large.mlir']) as object,
      });
      expect(explanation.operations).toMatchObject([{ location: 'large.mlir:3:13', landed: true }]);
      const again = await place.explain([...argv.slice(0, -1), 'again.vmfb']);
      expect(again.explanation.operations).toMatchObject([{ outcome: 'hit' }]);
      expect(place.read('again.vmfb').equals(place.read('tuned.vmfb'))).toBe(true);
      expect((await place.explain([...argv, '--iree-tuned-inject=inline'])).explanation.reason).toBe(
        'the input is too large to be copied for edits',
      );
    },
  );

  // database-alone.test.ts has such an input, too.
  test('with a lost configuration is tuned by the next build at the latest', { tags: 'full' }, async () => {
    place.write('lookalike.mlir', transposed(61));
    const argv = [...HOST, 'lookalike.mlir', '-o', 'tuned.vmfb'];
    await place.explain(argv);
    const { explanation } = await place.explain(argv);
    expect(explanation).toMatchObject({ applied: true, operations: [asGenerated(61)] });
  });

  test('with a syntax error in another dialect gets the messages of the compiler', async () => {
    place.write('wrong.mlir', dialect('torch').replace('torch.aten.mm %a, %b', 'torch.aten.mm %a, %nobody'));
    const [ours, theirs] = [
      await place.compile([...HOST, 'wrong.mlir', '-o', 'x.vmfb']),
      await place.stock([...HOST, 'wrong.mlir', '-o', 'x.vmfb']),
    ];
    expect(ours).toEqual(theirs);
    expect(ours.code).toBe(1);
  });
});
