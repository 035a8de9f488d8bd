// Inputs in every dialect of the compiler: the same matmul is tuned once, and its configuration lands in each.
// In full after a change of src/input/survey.ts, src/plan/inspected.ts.
import { describe, expect, test } from 'vitest';
import { dialect, dialects } from './dialects.ts';
import { HOST, oddMatmul, Workplace } from './support.ts';
import { problemsOf } from '../support/explain-schema.ts';

describe('an input', () => {
  // The verdict on the whole program does not depend on its dialect.
  const place = Workplace.simulated({}, { programs: 'failing' });

  function shapesOf(name: string): string[] {
    if (name === 'tosa') return ['1x61x71', '1x71x67'];
    return ['61x71', '71x67', ...(name === 'linalg' || name === 'bytecode' ? ['61x67'] : [])];
  }

  async function expectTuned(file: string, name: string): Promise<void> {
    const tuned = await place.built([...HOST, file, '-o', 'tuned.vmfb']);
    expect(tuned).toMatchObject({ applied: true, reason: null });
    const [operation, ...others] = tuned.operations;
    expect(others).toEqual([]);
    expect(operation!.workload).toMatch(/m=61 n=67 k=71 f32,f32->f32/);
    expect(operation!.speedup!.low).toBeGreaterThan(1);

    expect(await place.isStock('tuned.vmfb', [...HOST, file])).toBe(false);
    const results = await place.outputsOf('tuned.vmfb', shapesOf(name));
    expect(results).toEqual(await place.outputsOf('stock.vmfb', shapesOf(name)));

    // The next build is a replay.
    const again = await place.explain([...HOST, file, '-o', 'again.vmfb']);
    expect(again.explanation.operations).toMatchObject([{ outcome: 'hit' }]);
    expect(place.read('again.vmfb').equals(place.read('tuned.vmfb'))).toBe(true);
  }

  // The first dialect of the list is in database-alone.test.ts.
  const [first, ...others] = dialects;
  test.each([...others, first!])('in %s is tuned', { tags: 'full' }, async (name, text) => {
    await expectTuned(place.write(`${name}.mlir`, text), name);
  });

  test('in bytecode is tuned', { tags: 'full' }, async () => {
    place.write('text.mlir', oddMatmul);
    const toBytecode = ['--compile-to=input', '--emit-mlir-bytecode', '-o', 'bytecode.mlir'];
    expect((await place.stock(['text.mlir', ...toBytecode])).code).toBe(0);
    expect(place.read('bytecode.mlir').subarray(0, 4).toString('latin1')).toBe('MLïR');
    await expectTuned('bytecode.mlir', 'bytecode');
  });

  test('in torch gets the location of each operation', { tags: 'full' }, async () => {
    place.write('torch.mlir', dialect('torch'));
    const { explanation } = await place.explain([...HOST, 'torch.mlir', '-o', 'tuned.vmfb'], {
      env: { IREE_TUNED_BUDGET: '0' },
    });
    expect(explanation.operations).toMatchObject([{ location: 'torch.mlir:2:8' }]);
  });

  test('is explained with its source and its landed configurations', { tags: 'full' }, async () => {
    expect(await place.said(['explain', 'torch.mlir'])).toMatch(
      /^torch\.mlir:2:8 {2}linalg\.matmul\n {3}2 \| .*%r = torch\.aten\.mm .*\n {5}\| +\^~*\n {2}contraction m=61 n=67 k=71 .*\n {2}hit: .*faster.*\n {2}.*\n {2}seen in the executables\n\nInjected by /,
    );
    const json = await place.asked<object>(['explain', 'torch.mlir', '--json']);
    expect(json).toMatchObject({ operations: [{ outcome: 'hit', code: 'faster' }] });
    expect(problemsOf(json, 'preview')).toBe('');
  });

  test(
    'with large weights is tuned, run as a whole, and injected without a copy',
    { tags: 'full' },
    async () => {
      // The weights are dead code, so notes about another test's program would hold for this one.
      const place = Workplace.simulated({}, { programs: 'failing' });
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
      const explanation = await place.built(argv);
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
      expect((await place.explain([...argv, '--iree-tuned-inject=inline'])).explanation.code).toBe(
        'no-route',
      );
    },
  );

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
