// A tuned program travels to another home with its database: there a build with budget 0 gives the same bytes.
import { expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { Workplace } from './support.ts';
import { argv, home, program } from './tuned-home.ts';

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
