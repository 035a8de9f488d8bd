// A tuned program, for tests that carry its results to other homes.
import { expect } from 'vitest';
import { DEPTHWISE_PROGRAM } from './programs.ts';
import { HOST, oddMatmul, Workplace } from './support.ts';

export const program = `${DEPTHWISE_PROGRAM}\n${oddMatmul.replace('@main', '@product')}`;
export const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];

let tuned: ReturnType<typeof tunedHome> | undefined;
/** A home whose program is faster in other forms, and keeps configurations in them. Tuned once, for all tests that only read it. */
export const home = () => (tuned ??= tunedHome());

async function tunedHome() {
  const place = Workplace.simulated();
  place.write('in.mlir', program);
  // The written convolution is slower than its form. The configured matmul is faster.
  place.write('slower', 'conv');
  await place.built(argv);
  const next = await place.built(argv);
  expect(next).toMatchObject({ forms: { used: true }, program: null });
  expect(next.route).not.toBe('none');
  expect(next.operations.map(({ outcome }) => outcome)).toContain('hit');
  return { place, output: place.read('out.vmfb'), route: next.route };
}
