// Gains of models: the README's table, and the picture with the speed of stock and tuned programs relative to ONNX Runtime on a logarithmic axis.
import { runOf, tableOf, type Row, type Run } from './results.ts';
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

/** Models of the README's table, with the worst of each run. */
const SHOWN = [
  ['light', 'NCHW', ['resnet50', 'squeezenet', 'inception_v1', 'vgg19']],
  ['models', 'NHWC', ['inceptionv3', 'mobilenetv3small']],
  ['models', '-', ['vit-s', 'decode-1']],
] as const;

const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** The README's table. */
export function gainsTable(): string {
  const rows = SHOWN.flatMap(([id, layout, names]) =>
    names.map((name): Row => {
      const found = runOf(id).rows.find(({ model }) => model === name);
      if (found === undefined) throw new Error(`the run "${id}" has no ${name}`);
      return rowOf(name, layout, found);
    }),
  );
  const { rows: all } = runOf('light');
  const others = all.filter(({ model }) => !WITH_LRN.includes(String(model)));
  return tableOf([
    ...rows,
    rowOf(`geometric mean of the ${all.length} in the picture`, 'NCHW', meansOf(all)),
    rowOf(`the same without ${all.length - others.length} with LRN layers`, 'NCHW', meansOf(others)),
  ]);
}

/** Models with local response normalisation, which ONNX Runtime runs slowly (microsoft/onnxruntime#26293). */
const WITH_LRN = ['bvlc_alexnet', 'inception_v1', 'zfnet512'];

function meansOf(rows: readonly Row[]): Row {
  const mean = (column: string) => geometricMean(rows.map((row) => Number(row[column])));
  return { gain: mean('gain'), 'against ONNX Runtime': mean('against ONNX Runtime') };
}

const rowOf = (model: string, layout: string, row: Row): Row => ({
  ...{ model, layout, 'stock ms': row['stock ms'] ?? '-', 'tuned ms': row['tuned ms'] ?? '-' },
  ...{ gain: row['gain']!, 'against ONNX Runtime': row['against ONNX Runtime'] ?? '-' },
});

/** Columns of the README's table of the zoo: on one thread, and the last two on all threads. */
const RATIOS = ['against the best of stock', 'against ONNX Runtime', 'against OpenVINO'];
const ALL_THREADS = { time: 'tuned ms, all threads', ratio: 'against ONNX Runtime, all threads' };
const ZOO = ['model', 'best of stock ms', 'tuned ms', ...RATIOS, ...Object.values(ALL_THREADS)];

/** The README's table of models that were not measured while the product was made. */
export function zooTable(): string {
  const others = runOf('zoo-all-threads').rows;
  const rows = runOf('zoo').rows.map((row): Row => {
    const other = others.find(({ model }) => model === row['model']);
    return {
      ...row,
      [ALL_THREADS.time]: other?.['tuned ms'] ?? '-',
      [ALL_THREADS.ratio]: other?.['against ONNX Runtime'] ?? '-',
    };
  });
  const meanOf = (column: string): number | string => {
    const ratios = rows.map((row) => row[column]).filter((one) => typeof one === 'number');
    return ratios.length === 0 ? '-' : geometricMean(ratios);
  };
  const mean = Object.fromEntries([...RATIOS, ALL_THREADS.ratio].map((column) => [column, meanOf(column)]));
  const times = { 'best of stock ms': '-', 'tuned ms': '-', [ALL_THREADS.time]: '-' };
  return tableOf([...rows, { model: 'geometric mean', ...times, ...mean }], ZOO);
}
