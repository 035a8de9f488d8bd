// The picture of gains: speed of stock and tuned programs relative to ONNX Runtime, on a logarithmic axis.
import type { Run } from './results.ts';
import { dot, line, picture, text } from './svg.ts';

const LEFT = 110;
const RIGHT = 640;
const TOP = 44;
const STEP = 24;
const TICKS = [0.03, 0.1, 0.3, 1, 2];
const [FIRST, LAST] = [0.025, 2.4];

const place = (speed: number): number =>
  LEFT + ((RIGHT - LEFT) * Math.log(speed / FIRST)) / Math.log(LAST / FIRST);

export function gainsPicture(run: Run): string {
  const { date, machine, threads, iree } = run;
  const caption = `NCHW, f32, batch 1; ${date}, ${machine}, threads: ${threads}, IREE ${iree}`;
  const bottom = TOP + run.rows.length * STEP;
  const parts = [
    ...TICKS.flatMap((tick) => [
      line(`M${place(tick).toFixed(1)} ${TOP - 8}V${bottom}`, tick === 1 ? 'line' : 'grid'),
      text(place(tick), bottom + 18, tick === 1 ? 'ONNX Runtime' : `${tick}x`, 'small', 'middle'),
    ]),
    dot(LEFT, 16, 'before'),
    text(LEFT + 12, 20, 'stock iree-compile'),
    dot(LEFT + 160, 16, 'after'),
    text(LEFT + 172, 20, 'tuned'),
    text(RIGHT + 14, 20, 'tuned / stock', 'small'),
    ...run.rows.flatMap((row, i) => {
      const y = TOP + (i + 0.5) * STEP;
      const [tuned, gain] = [Number(row['against ONNX Runtime']), Number(row['gain'])];
      const stock = Number(row['ONNX Runtime ms']) / Number(row['stock ms']);
      return [
        text(LEFT - 14, y + 4, String(row['model']), '', 'end'),
        line(`M${place(stock).toFixed(1)} ${y}H${place(tuned).toFixed(1)}`),
        dot(place(stock), y, 'before'),
        dot(place(tuned), y, 'after'),
        text(RIGHT + 14, y + 4, `${gain.toPrecision(3)}x`),
      ];
    }),
    text(8, bottom + 40, caption.replaceAll('`', ''), 'small'),
  ];
  return picture(RIGHT + 110, bottom + 50, 'Speed relative to ONNX Runtime, stock and tuned', parts);
}
