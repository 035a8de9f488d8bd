// A tuned program travels to another home with its database: there a build with budget 0 gives the same bytes.
import { expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { DEPTHWISE_PROGRAM } from './programs.ts';
import { HOST, oddMatmul, Workplace } from './support.ts';

const program = `${DEPTHWISE_PROGRAM}\n${oddMatmul.replace('@main', '@product')}`;
const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];

let tuned: ReturnType<typeof tunedHome> | undefined;
/** Tuned once, for all tests that only export from it. */
const home = () => (tuned ??= tunedHome());

/** A home whose program is faster in other forms, and keeps configurations in them. */
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

const carriers: [string, readonly string[]][] = [
  ['lines', ['db', 'export', 'carried']],
  ['a database', ['db', 'export', '--sqlite', 'carried']],
];
test.each(casesOfTier(carriers, 1))(
  'a program that was tuned elsewhere is built from imported %s to the same bytes',
  { timeout: 300_000 },
  async (_, words) => {
    const { place, output, route } = await home();
    expect(await place.said(words)).toContain('carried: ');

    const other = Workplace.simulated({ IREE_TUNED_BUDGET: '0' });
    other.write('in.mlir', program);
    // Nothing is known there yet.
    expect(await other.built(argv)).toMatchObject({ route: 'none', forms: { code: 'forms-unknown' } });
    expect(await other.said(['db', 'import', place.path('carried')])).toMatch(/ 2 notes; /);
    const there = await other.explain(argv);
    expect(there).toMatchObject({ code: 0, stderr: '', explanation: { route, forms: { used: true } } });
    expect(other.read('out.vmfb').equals(output)).toBe(true);
  },
);
