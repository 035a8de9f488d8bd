// Texts of results: a row for each model, and a summary. Pure.
import { formatSeconds } from '../../src/system/format.ts';
import { counted } from '../shared/arguments.ts';
import type { Table } from '../shared/each-model.ts';
import { intervalText, listed, ratingOf, ratioText, worstText, type Rating } from '../shared/gains.ts';
import { either, endingText, percent, settledShare, shareLines } from '../shared/rows.ts';
import type { Accuracy } from './accuracy.ts';
import type { Result } from './measure.ts';
import { hasLrn, isLight } from './models.ts';

/** Rounding does not explain a larger error against a peer. */
const MOST_RELATIVE_ERROR = 1e-3;

const HEADER = [
  ...['model', 'ORT', 'OpenVINO', 'stock', 'best stock', 'flags', 'tuned', 'tuned/ORT', 'tuned/OpenVINO'],
  ...['tuned/best stock', 'decided', 'forms', 'compile', 'outputs', 'rel. error', ''],
];
const WIDTHS = [0, 8, 8, 8, 10, 15, 8, 9, 14, 19, 7, 5, 8, 9, 10, 0];

export const table: Table<Result> = {
  ...{ header: HEADER, widths: WIDTHS, cells, summarise },
  linesBelow: ({ variants, peerErrors, accuracy, explanation }) => [
    ...(accuracy ? accuracyLines(accuracy) : []),
    ...variants.flatMap(({ name, error }) =>
      error === null ? [] : [`  stock with ${name} fails: ${error}`],
    ),
    ...Object.values(peerErrors).map((error) => `  ${error}`),
    ...busyLines(explanation),
    ...shareLines(explanation),
  ],
};

function cells(result: Result): string[] {
  const { model, seconds, gains, best, verdict, compileSeconds, explanation } = result;
  const time = (one: keyof Result['seconds']) => formatSeconds(seconds[one] ?? NaN);
  const gain = (one: keyof Result['gains']) => (gains[one] ? `${gains[one].ratio.toFixed(2)}x` : '-');
  const error = errorsOf(result).find(({ module, peer }) => module === 'tuned' && peer === 'onnxRuntime');
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
    explanation === null ? '-' : String(formsOf(explanation)),
    formatSeconds(compileSeconds?.tuned ?? NaN),
    either(verdict?.equal, 'equal', 'DIFFERENT'),
    error?.largest.toExponential(1) ?? '-',
    endingText(result),
  ];
}

/** For each contestant: draws whose largest element is that of stock and of the original network, and the mean error. */
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

/** Number of operations that are compiled in another form. */
const formsOf = ({ forms }: NonNullable<Result['explanation']>) =>
  forms?.used === true ? forms.operations.length : 0;

const errorsOf = ({ relativeErrors }: Result) =>
  relativeErrors.map(({ errors, ...one }) => ({ ...one, largest: Math.max(...errors) }));

/** The contestants that tuned is compared with, by their names in the summary. */
const RIVALS = {
  ...{ onnxRuntime: 'ONNX Runtime', openVino: 'OpenVINO' },
  ...{ best: 'best stock', stock: 'stock' },
} as const;
type Rival = keyof typeof RIVALS;

interface Means extends Rating {
  readonly rival: Rival;
}

function summarise(results: readonly Result[]) {
  const where = (holds: (result: Result) => boolean) => results.filter(holds).map(({ model }) => model);
  const means = (some: readonly Result[]): Means[] =>
    (Object.keys(RIVALS) as Rival[]).map((rival) => ({
      rival,
      ...ratingOf(some.map((result) => ({ model: result.model, gain: gainOver(result, rival) }))),
    }));
  const light = results.filter(({ model }) => isLight(model));
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
    all: means(results),
    light: means(light),
    /** The light models without those with LRN layers. */
    withoutLrn: means(light.filter(({ model }) => !hasLrn(model))),
  };
}

/** Null for wrong results. */
const gainOver = ({ verdict, gains }: Result, rival: Rival): number | null =>
  verdict?.equal === true ? (gains[rival]?.ratio ?? null) : null;

export function summaryText(results: readonly Result[]): string {
  const { models, states, wrong, unlikePeer, sameCode, all, light, withoutLrn } = summarise(results);
  const line = (name: string, text: string) => name.padEnd(34) + text;
  const mean = ({ geometricMean, rated }: Means) =>
    `${ratioText(geometricMean)} over ${counted(rated, 'model')}`;
  const overOnnxRuntime = (means: readonly Means[]) => means.find(({ rival }) => rival === 'onnxRuntime')!;
  const ofLight = overOnnxRuntime(light);
  return [
    line('models', String(models)),
    ...Object.entries(states).map(([state, names]) => line(state, listed(names))),
    line('wrong', listed(wrong)),
    line('unlike a peer', listed(unlikePeer)),
    line('same code', listed(sameCode)),
    ...all.map((one) => line(`tuned/${RIVALS[one.rival]}`, `${mean(one)}; worst ${worstText(one)}`)),
    ...(ofLight.rated === 0
      ? []
      : [
          line(
            'light models, tuned/ONNX Runtime',
            `${mean(ofLight)}; without LRN ${mean(overOnnxRuntime(withoutLrn))}`,
          ),
        ]),
  ].join('\n');
}
