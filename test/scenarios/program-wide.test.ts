// A configuration that cannot be measured alone is tried on all operations of a program at once.
// In full after a change of src/running/variants.
import { expect, test } from 'vitest';
import { decisionsOf, matmulModule, WITHOUT_RATES, Workplace, argv } from './support.ts';

const UNTUNED = ['default: undecided'];

test('data tiling that makes a program faster is chosen by one build for all builds', async () => {
  const [m, n, k] = [127, 131, 137] as const;
  const place = Workplace.simulated({}, { isRefusing: true });
  place.write('in.mlir', matmulModule(m, n, k));
  // The dispatches that pack and unpack take no time here.
  const shorten = 'head -1 "$module.lines" >"$module.first"; mv "$module.first" "$module.lines"';
  place.write('hook', `case $module in *tuned.vmfb) ${shorten} ;; esac`);
  const first = await place.built(argv);
  const chosen = [{ outcome: 'hit', code: 'program-wide', configuration: { kind: 'data-tile' } }];
  expect(first).toMatchObject({
    ...{ route: 'preprocess', applied: true, operations: chosen },
    program: { functions: [{ name: 'main', equal: true }], leftOut: [], injected: true, reason: null },
  });
  expect(first.program!.functions[0]!.timing!.low).toBeGreaterThan(1);
  expect(await place.isStock()).toBe(false);
  const shapes = [`${m}x${k}`, `${k}x${n}`, `${m}x${n}`];
  const results = await place.outputsOf('out.vmfb', shapes);
  expect(results).toEqual(await place.outputsOf('stock.vmfb', shapes));

  const second = await place.built(argv);
  expect(second).toMatchObject({ operations: chosen, applied: true, program: null, seconds: { tuning: 0 } });
  expect(await place.said(['explain', 'in.mlir'], WITHOUT_RATES)).toContain(
    'data tiling of all that can have it',
  );

  // No other route can inject it.
  expect(decisionsOf(await place.built([...argv, '--iree-tuned-inject=spec']))).toEqual(UNTUNED);
});

test('data tiling that makes no program faster is tried once', { tags: 'full' }, async () => {
  const place = Workplace.simulated({}, { isRefusing: true, isShort: true });
  place.write('in.mlir', matmulModule(61, 67, 71));
  place.write('slower', '.');
  place.write('hook', `echo "$module" >>'${place.path('runs')}'`);
  for (const isFirst of [true, false]) {
    const build = await place.built(argv);
    expect(decisionsOf(build)).toEqual(UNTUNED);
    expect(build.route).toBe('none');
    expect(place.has('runs')).toBe(isFirst);
    if (isFirst) place.remove('runs');
  }
  await place.compile(argv);
  expect(place.has('cache/replays')).toBe(true);
});
