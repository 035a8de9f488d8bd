// The names of functions mean nothing: other names get the same configurations.
import { expect, test } from 'vitest';
import { SOFTMAX } from '../support/dispatch-programs.ts';
import { casesOfTier } from '../support/needs.ts';
import { recordMisses } from './faults/support.ts';
import { HOST, Workplace } from './support.ts';

/** A softmax in a function of this name. */
const named = (name: string) => SOFTMAX.replace('@main', `@"${name}"`);

const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];
const recording = { env: { IREE_TUNED_ON_MISS: 'record' } };

/** A workplace with a record of the dispatch, from a function with a plain name. */
async function recorded(): Promise<Workplace> {
  const place = new Workplace();
  place.write('in.mlir', named('main'));
  expect((await place.compile(argv, recording)).code).toBe(0);
  recordMisses(place, () => ({
    ...{ version: 1, kind: 'dispatch-tile' },
    ...{ distribution: [1, 20, 0], vector: [1, 4, 38] },
  }));
  return place;
}

test.each(
  casesOfTier(['torch-jit-export', 'Model from PaddlePaddle.', 'größe', 'x_dispatch_3', 'a (b) {c}'], 1),
)('a dispatch of the function "%s" gets its configuration', async (name) => {
  const place = await recorded();
  place.write('in.mlir', named(name));
  const { code, stderr, explanation } = await place.explain(argv, recording);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(explanation).toMatchObject({ route: 'substitute', applied: true, reason: null });
  expect(explanation.operations).toMatchObject([{ outcome: 'hit' }]);
});

// The compiler finds no executable with `=` in a flag, and writes no dump of one with `/`.
test.each(['x=y', 'a.b/c'])('the function "%s" is compiled without a message', async (name) => {
  const place = await recorded();
  place.write('in.mlir', named(name));
  expect(await place.compile(argv, recording)).toMatchObject({ code: 0, stderr: '' });
  expect(await place.stock([...HOST, 'in.mlir', '-o', 'stock.vmfb'])).toMatchObject({ code: 0 });
  expect(place.read('out.vmfb').equals(place.read('stock.vmfb'))).toBe(true);
});
