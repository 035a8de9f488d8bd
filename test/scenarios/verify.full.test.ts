// `iree-tuned db verify`
// In full after a change of src/tuning/measure-again.ts.
import { expect, test } from 'vitest';
import { HOST, Workplace } from './support.ts';

const MATMUL = `func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
`;

interface Told {
  readonly records: readonly { readonly verdict: string; readonly now: { readonly ratio: number } }[];
  readonly whyNot: string | null;
  readonly notHere: number;
}

test('records are measured again, and their drift is shown', { timeout: 120_000 }, async () => {
  const place = Workplace.simulated();
  place.write('in.mlir', MATMUL);
  const tuned = await place.tuned(['tune', 'in.mlir', '--', ...HOST]);
  expect(tuned.stderr + tuned.stdout).toContain('10.00x');
  const verify = async (...options: string[]) => {
    const { code, stdout, stderr } = await place.tuned(['db', 'verify', ...options, '--json', '--', ...HOST]);
    expect(stderr).toBe('');
    return { code, told: JSON.parse(stdout) as Told };
  };
  const holds = await verify();
  expect(holds.told).toMatchObject({ records: [{ verdict: 'holds' }], whyNot: null, notHere: 0 });
  expect(holds.code).toBe(0);
  expect((await verify('--workload', 'm=65')).told.records).toEqual([]);
  // Records of another compiler are left out.
  place.inDatabase((database) => database.exec(`UPDATE compiler SET key = 'another'`));
  expect((await verify()).told).toMatchObject({ records: [], notHere: 1 });
});
