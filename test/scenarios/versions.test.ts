// The same build with an older compiler, whose configuration syntax differs. It is provisioned only when asked for:
// `npm run test:3.11` brings IREE 3.11.0 into .venv-3.11.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compiler as current, root } from '../support/real-tools.ts';
import { HOST, oddMatmul, runMatmul, Workplace } from './support.ts';

const older = join(root, '.venv-3.11', 'bin', 'iree-compile');
const compilers = [
  { release: 'the current release', path: current.invokedAs },
  { release: 'IREE 3.11.0', path: older },
];

for (const { release, path } of compilers) {
  test.skipIf(!existsSync(path))(
    `with ${release}, what is tuned lands, by a spec and inline, and gives the same program`,
    { timeout: 300_000 },
    async () => {
      // What the current one does in a real search is in compile.test.ts.
      const place = path === older ? new Workplace({ IREE_TUNED_COMPILER: path }) : Workplace.simulated();
      place.write('in.mlir', oddMatmul);
      const tune = ['tune', 'in.mlir', '--trials', '2', '--budget', '300'];
      expect((await place.tuned(tune)).code).toBe(0);
      const first = await place.explain([...HOST, 'in.mlir', '-o', 'spec.vmfb']);
      expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
      expect(first.explanation).toMatchObject({ route: 'spec', applied: true });
      expect(first.explanation.operations).toMatchObject([{ outcome: 'hit' }]);
      const inline = await place.explain([
        ...HOST,
        'in.mlir',
        '-o',
        'inline.vmfb',
        '--iree-tuned-inject=inline',
      ]);
      expect(inline.explanation).toMatchObject({ route: 'inline', applied: true });
      expect(inline.explanation.operations).toMatchObject([{ outcome: 'hit' }]);
      await place.run(path, [...HOST, 'in.mlir', '-o', 'stock.vmfb']);
      const stock = await runMatmul(place, 'stock.vmfb', 61, 67, 71);
      expect(stock.code).toBe(0);
      for (const name of ['spec.vmfb', 'inline.vmfb'])
        expect(await runMatmul(place, name, 61, 67, 71)).toEqual(stock);
    },
  );
}

test.skipIf(!existsSync(older))('a record of one compiler is not used for another', async () => {
  const place = Workplace.simulated();
  place.write('in.mlir', oddMatmul);
  expect((await place.tuned(['tune', 'in.mlir'])).code).toBe(0);
  const other = await place.explain([...HOST, 'in.mlir', '-o', 'out.vmfb'], {
    env: { IREE_TUNED_COMPILER: older, IREE_TUNED_BUDGET: '0' },
  });
  expect(other.explanation.operations).toMatchObject([{ outcome: 'default' }]);
});
