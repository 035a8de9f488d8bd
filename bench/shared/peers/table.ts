// Texts of results: a row for each model, and a summary. Pure.
import { formatSeconds } from '../../../src/system/format.ts';
import { counted } from '../arguments.ts';
import type { Table } from '../each-model.ts';
import { intervalText, listed, ratingOf, ratioText, worstText, type Rating } from '../gains.ts';
import { either, endingText, percent, settledShare, shareLines } from '../rows.ts';
import type { Accuracy } from './accuracy.ts';
import type { Result } from './measure.ts';

/** Rounding does not explain a larger error against a peer. */
const MOST_RELATIVE_ERROR = 1e-3;

/** A column of one bench, before the column of reasons. */
export interface Column {
  readonly header: string;
  readonly width: number;
  cell(result: Result): string;
}

const HEADER = [
  ...['model', 'ORT', 'OpenVINO', 'stock', 'best stock', 'flags', 'tuned', 'tuned/ORT', 'tuned/OpenVINO'],
  ...['tuned/best stock', 'decided', 'compile', 'outputs', 'rel. error'],
];
const WIDTHS = [0, 8, 8, 8, 10, 15, 8, 9, 14, 19, 7, 8, 9, 10];

/** @param speed text for the seconds of one call; NaN for a missing time */
export const peerTable = (speed: (seconds: number, model: string) => string, own: Column): Table<Result> => ({
  header: [...HEADER, own.header, ''],
  widths: [...WIDTHS, own.width, 0],
  cells: (result) => [...cells(result, speed), own.cell(result), endingText(result)],
  summarise,
  linesBelow: ({ variants, peerErrors, accuracy, explanation }) => [
    ...(accuracy ? accuracyLines(accuracy) : []),
    ...variants.flatMap(({ name, error }) =>
      error === null ? [] : [`  stock with ${name} fails: ${error}`],
    ),
    ...Object.values(peerErrors).map((error) => `  ${error}`),
    ...busyLines(explanation),
    ...shareLines(explanation),
  ],
});

function cells(result: Result, speed: Parameters<typeof peerTable>[0]): string[] {
  const { model, seconds, gains, best, verdict, compileSeconds, explanation } = result;
  const time = (one: keyof Result['seconds']) => speed(seconds[one] ?? NaN, model);
  const gain = (one: keyof Result['gains']) => (gains[one] ? `${gains[one].ratio.toFixed(2)}x` : '-');
  return [
    ...[
      model,
      time('onnxRuntime'),
      time('openVino'),
      time('stock'),
      time('best'),
      best ?? '-',
      time('tuned'),
    ],
    ...[gain('onnxRuntime'), gain('openVino'), gains.best ? intervalText(gains.best) : '-'],
    percent(settledShare(explanation)),
    formatSeconds(compileSeconds?.tuned ?? NaN),
    either(verdict?.equal, 'equal', 'DIFFERENT'),
    tunedAgainstOnnxRuntime(result)?.largest.toExponential(1) ?? '-',
  ];
}

/** Draws whose largest element is that of stock and of the original network, and the mean error, for each contestant. */
const accuracyLines = ({ draws, ...contestants }: Accuracy): string[] =>
  Object.entries(RIVALS_IN_ACCURACY).map(([key, name]) => {
    const { sameAsStock, sameAsOriginal, error } = contestants[key as keyof typeof contestants];
    return `  ${name}: of ${draws} draws, ${sameAsStock} with the largest element of stock, ${sameAsOriginal} with that of the f32 network; error against it ${error.toExponential(1)}`;
  });

const RIVALS_IN_ACCURACY = { tuned: 'tuned', stock: 'stock', onnxRuntime: 'ONNX Runtime' } as const;

/** Reasons why tuning could not measure: then the row says nothing about the product. */
const busyLines = (explanation: Result['explanation']): string[] => {
  const busy = explanation?.operations.filter(({ code }) => code === 'lock-busy' || code === 'machine-busy');
  return [...new Set(busy?.map(({ reason }) => `  not tuned: ${reason}`))];
};

const errorsOf = ({ relativeErrors }: Result) =>
  relativeErrors.map((one) => ({ ...one, largest: Math.max(...one.errors) }));

export const tunedAgainstOnnxRuntime = (result: Result) =>
  errorsOf(result).find(({ module, peer }) => module === 'tuned' && peer === 'onnxRuntime');

/** The contestants that tuned is compared with, by their names in the summary. */
const RIVALS = {
  ...{ onnxRuntime: 'ONNX Runtime', openVino: 'OpenVINO' },
  ...{ best: 'best stock', stock: 'stock' },
} as const;
type Rival = keyof typeof RIVALS;

interface Means extends Rating {
  readonly rival: Rival;
}

/** Mean gains over each rival. Wrong results have no gain. */
export const meansOf = (results: readonly Result[]): Means[] =>
  (Object.keys(RIVALS) as Rival[]).map((rival) => ({
    rival,
    ...ratingOf(
      results.map(({ model, verdict, gains }) => ({
        model,
        gain: verdict?.equal === true ? (gains[rival]?.ratio ?? null) : null,
      })),
    ),
  }));

export function summarise(results: readonly Result[]) {
  const where = (holds: (result: Result) => boolean) => results.filter(holds).map(({ model }) => model);
  return {
    models: results.length,
    states: Object.fromEntries(
      (['not prepared', 'stock does not compile', 'broken', 'not measured'] as const).map((state) => [
        state,
        where((result) => result.state === state),
      ]),
    ),
    /** Results that differ from stock's. */
    wrong: where(({ verdict }) => verdict?.equal === false),
    /** Modules with results that differ from a peer's by more than rounding. */
    unlikePeer: results.flatMap((result) =>
      errorsOf(result)
        .filter(({ largest }) => !(largest <= MOST_RELATIVE_ERROR))
        .map(
          ({ module, peer, largest }) => `${result.model} (${module}, ${peer}: ${largest.toExponential(1)})`,
        ),
    ),
    sameCode: where(({ sameCode }) => sameCode),
    all: meansOf(results),
  };
}

export const summaryLine = (name: string, text: string): string => name.padEnd(34) + text;

export const meanText = ({ geometricMean, rated }: Rating): string =>
  `${ratioText(geometricMean)} over ${counted(rated, 'model')}`;

export function summaryText(results: readonly Result[]): string {
  const { models, states, wrong, unlikePeer, sameCode, all } = summarise(results);
  return [
    summaryLine('models', String(models)),
    ...Object.entries(states).map(([state, names]) => summaryLine(state, listed(names))),
    summaryLine('wrong', listed(wrong)),
    summaryLine('unlike a peer', listed(unlikePeer)),
    summaryLine('same code', listed(sameCode)),
    ...all.map((one) =>
      summaryLine(`tuned/${RIVALS[one.rival]}`, `${meanText(one)}; worst ${worstText(one)}`),
    ),
  ].join('\n');
}
