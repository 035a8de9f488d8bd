// A configuration that cannot be measured alone is tried on all operations of a program at once.
import { expect, test } from 'vitest';
import { HOST, matmulModule, runMatmul, WITHOUT_RATES, Workplace } from './support.ts';

const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];
const UNTUNED = /^default: cannot be decided: /;

const outcomes = ({ explanation }: Awaited<ReturnType<Workplace['explain']>>) =>
  explanation.operations.map(({ outcome, reason, configuration }) => ({
    what: `${outcome}: ${reason}`,
    kind: configuration?.kind ?? null,
  }));

test('data tiling that makes a program faster is chosen by one build for all builds', async () => {
  const [m, n, k] = [127, 131, 137] as const;
  const place = Workplace.simulated({}, { isRefusing: true });
  place.write('in.mlir', matmulModule(m, n, k));
  // The dispatches that pack and unpack take no time here.
  const shorten = 'head -1 "$module.lines" >"$module.first"; mv "$module.first" "$module.lines"';
  place.write('hook', `case $module in *tuned.vmfb) ${shorten} ;; esac`);
  const first = await place.explain(argv);
  expect(first).toMatchObject({ code: 0, stderr: '' });
  const chosen = {
    what: expect.stringMatching(
      /^hit: data tiling of all that can have it makes this program \d+\.\d\dx as fast$/,
    ) as string,
    kind: 'data-tile',
  };
  expect(outcomes(first)).toEqual([chosen]);
  expect(first.explanation).toMatchObject({
    route: 'preprocess',
    applied: true,
    program: { functions: [{ name: 'main', equal: true }], leftOut: [], injected: true, reason: null },
  });
  expect(first.explanation.program!.functions[0]!.timing!.low).toBeGreaterThan(1);
  await place.stock([...HOST, 'in.mlir', '-o', 'stock.vmfb']);
  const results = [
    await runMatmul(place, 'out.vmfb', m, n, k),
    await runMatmul(place, 'stock.vmfb', m, n, k),
  ];
  expect(results[0]!.code).toBe(0);
  expect(results[0]!.stdout.equals(results[1]!.stdout)).toBe(true);

  const second = await place.explain(argv);
  expect(outcomes(second)).toEqual([chosen]);
  expect(second.explanation).toMatchObject({ applied: true, program: null, seconds: { tuning: 0 } });
  const { stdout } = await place.tuned(['explain', 'in.mlir'], WITHOUT_RATES);
  expect(stdout.toString()).toContain('data tiling of all that can have it');

  // No other route can inject it.
  const bySpec = await place.explain([...argv, '--iree-tuned-inject=spec']);
  expect(outcomes(bySpec)).toEqual([{ what: expect.stringMatching(UNTUNED) as string, kind: null }]);
});

test('data tiling that makes no program faster is tried once', async () => {
  const place = Workplace.simulated({}, { isRefusing: true, isShort: true });
  place.write('in.mlir', matmulModule(61, 67, 71));
  place.write('slower', '.');
  place.write('hook', `echo "$module" >>'${place.path('runs')}'`);
  for (const isFirst of [true, false]) {
    const build = await place.explain(argv);
    expect(outcomes(build)).toEqual([{ what: expect.stringMatching(UNTUNED) as string, kind: null }]);
    expect(build.explanation).toMatchObject({ route: 'none' });
    expect(place.has('runs')).toBe(isFirst);
    if (isFirst) place.remove('runs');
  }
  await place.compile(argv);
  expect(place.has('cache/replays')).toBe(true);
});
