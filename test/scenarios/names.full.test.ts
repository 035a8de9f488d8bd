// The names of functions mean nothing: other names get the same configurations.
// In full after a change of src/inject/substitute.ts, src/inject/executable-sources.ts.
import { expect, test } from 'vitest';
import { SOFTMAX } from '../support/dispatch-programs.ts';
import { casesOfTier } from '../support/needs.ts';
import { compiler } from '../support/real-tools.ts';
import { recordMisses } from './faults/support.ts';
import { Workplace, argv } from './support.ts';

/** A softmax in a function of this name. */
const named = (name: string) => SOFTMAX.replace('@main', `@"${name}"`);

const recording = { env: { IREE_TUNED_ON_MISS: 'record' } };

/** A workplace with a record of the dispatch, from a function with a plain name. */
async function recorded(env: Readonly<Record<string, string>> = {}): Promise<Workplace> {
  const place = new Workplace(env);
  place.write('in.mlir', named('main'));
  expect((await place.compile(argv, recording)).code).toBe(0);
  recordMisses(place, () => ({
    ...{ version: 1, kind: 'dispatch-tile' },
    ...{ distribution: [1, 20, 0], vector: [1, 4, 38] },
  }));
  return place;
}

async function expectHit(place: Workplace, name: string): Promise<void> {
  place.write('in.mlir', named(name));
  const explanation = await place.built(argv, recording);
  expect(explanation).toMatchObject({ route: 'substitute', applied: true, reason: null });
  expect(explanation.operations).toMatchObject([{ outcome: 'hit' }]);
}

// metamorphic.test.ts has other names. The compiler writes dumps into folders that are named after such functions, and does not create them.
test('a dispatch of a function whose name is a path gets its configuration', async () => {
  const place = await recorded({ IREE_TUNED_COMPILER: compiler.executable });
  for (const name of casesOfTier(['a.b/c', 'a/b/c'], 1)) await expectHit(place, name);
  // Nothing is written outside of our folders.
  place.write('in.mlir', named('a/../../b'));
  expect(await place.compile(argv, recording)).toMatchObject({ code: 0, stderr: '' });
});

test('the compiler finds no executable with `=` in a flag, and the function is compiled without a message', async () => {
  const place = await recorded();
  place.write('in.mlir', named('x=y'));
  expect(await place.compile(argv, recording)).toMatchObject({ code: 0, stderr: '' });
  expect(await place.isStock()).toBe(true);
});
