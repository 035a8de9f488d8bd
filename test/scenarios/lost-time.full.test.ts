// The time that a program loses, measured on this machine: `profile` times it, `explain` and `report` show it.
// In full after a change of src/report/loss.ts, src/running/measure-loss.ts, src/cli/profile.ts.
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { PageData } from '../../src/report/html/data.ts';
import type { ProgramLoss } from '../../src/report/loss.ts';
import { problemsOf } from '../support/explain-schema.ts';
import { HOST, Workplace } from './support.ts';

const SIZE = 512;
const PROGRAM = `!t = tensor<${SIZE}x${SIZE}xf32>
func.func @main(%a: !t, %b: !t) -> !t {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t
  %f = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %m = linalg.matmul ins(%a, %b : !t, !t) outs(%f : !t) -> !t
  %s = linalg.softmax dimension(1) ins(%m : !t) outs(%e : !t) -> !t
  return %s : !t
}
`;

test(
  'a matmul and a softmax have shares of their bounds, a sum and a time outside',
  { timeout: 300_000 },
  async () => {
    // Programs run from 15 s on. Nothing is searched, because no dispatch has this name.
    const place = new Workplace({ IREE_TUNED_BUDGET: '120' });
    place.write('in.mlir', PROGRAM);
    const explain = ['explain', 'in.mlir', '--json', '--', ...HOST];
    expect(await place.asked(explain)).toMatchObject({ time: null, loss: null });

    const profiled = await place.tuned(['profile', 'in.mlir', '--dispatches', 'matmul_1x1x1', '--', ...HOST]);
    expect(profiled).toMatchObject({ code: 0, stderr: '' });
    const text = profiled.stdout;
    expect(text).toMatch(/^lost ms +time ms +of bound +dispatch +group +bound by$/m);
    expect(text).toMatch(
      /^ +\d+\.\d{3} +\d+\.\d{3} +\d+% +main_dispatch_0_matmul_512x512x512_f32 +matrix product +arithmetic$/m,
    );
    expect(text).toMatch(/^Lost against the bounds: .* in dispatches\. /m);
    expect(text).toMatch(/10\^9 multiply-adds per second: \d+\.\d of f32\.$/m);

    const explained = await place.asked<{ readonly loss: ProgramLoss }>(explain);
    expect(problemsOf(explained, 'preview')).toBe('');
    const { dispatches, lostSeconds, unknownSeconds, dispatchSeconds, wholeSeconds, outsideSeconds } =
      explained.loss;
    expect(dispatches.map(({ group }) => group).sort()).toEqual(['matrix product', 'softmax or reduction']);
    for (const { share, calls } of dispatches) {
      expect(calls).toBe(1);
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThanOrEqual(1.5);
    }
    const losses = dispatches.map((one) => one.lostSeconds!);
    expect(losses).toEqual(losses.toSorted((a, b) => b - a));
    expect(lostSeconds).toBeCloseTo(losses[0]! + losses[1]!, 9);
    expect(unknownSeconds).toBe(0);
    expect(outsideSeconds).toBeCloseTo(wholeSeconds! - dispatchSeconds, 9);

    expect(await place.tuned(['report', '-o', 'report.html'])).toMatchObject({ code: 0 });
    const [, packed] = /id="data">([^<]*)</.exec(place.read('report.html').toString())!;
    const page = JSON.parse(gunzipSync(Buffer.from(packed!, 'base64')).toString()) as PageData;
    const [loss] = page.losses;
    expect(loss).toMatchObject({
      name: 'in.mlir',
      dispatches: dispatches.map(({ dispatch }) => ({ dispatch })),
    });
    // A page has four digits.
    expect(loss!.lostSeconds! / lostSeconds!).toBeCloseTo(1, 3);
    expect(loss!.outsideSeconds! / outsideSeconds!).toBeCloseTo(1, 3);
  },
);
