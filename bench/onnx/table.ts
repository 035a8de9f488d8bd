// Texts of results: a row for each model, and a summary. Pure.
import { formatSeconds } from '../../src/system/format.ts';
import { counted } from '../shared/arguments.ts';
import { percent, settledShare, shareLines } from '../shared/dispatch-time.ts';
import type { Table } from '../shared/each-model.ts';
import { gainOf, gainText, listed, ratingOf, ratioText, worstText, type Rating } from '../shared/gains.ts';
import { either, endingText, tuningText } from '../shared/rows.ts';
import { kindLines } from './kinds.ts';
import type { Result } from './measure.ts';

/** Rounding does not explain a larger error against ONNX Runtime. */
const MOST_RELATIVE_ERROR = 1e-3;

const HEADER = [
  ...['model', 'ORT', 'stock', 'tuned', 'gain', 'tuned/ORT', 'outputs', 'rel. error'],
  ...['decided', 'tuning', 'compile', 'stock compile', ''],
];
const WIDTHS = [0, 8, 8, 8, 19, 9, 9, 10, 7, 8, 8, 13, 0];

export const table: Table<Result> = {
  header: HEADER,
  widths: WIDTHS,
  cells,
  linesBelow: ({ kinds, explanation }) => [...kindLines(kinds), ...shareLines(explanation)],
  summarise,
};

function cells(result: Result): string[] {
  const { model, verdict, onnxRuntime, compileSeconds, explanation } = result;
  const [peer = NaN] = onnxRuntime?.tuned.seconds ?? [];
  const [stock = NaN, tuned = NaN] = verdict?.timing?.seconds ?? [];
  const error = errorOf(result);
  return [
    ...[model, formatSeconds(peer), formatSeconds(stock), formatSeconds(tuned), gainText(result)],
    onnxRuntime === null ? '-' : `${onnxRuntime.tuned.ratio.toFixed(2)}x`,
    either(verdict?.equal, 'equal', 'DIFFERENT'),
    error === null ? '-' : error.toExponential(1),
    percent(settledShare(explanation)),
    tuningText(explanation),
    formatSeconds(compileSeconds?.tuned ?? NaN),
    formatSeconds(compileSeconds?.stock ?? NaN),
    endingText(result),
  ];
}

/** Largest relative error of the tuned program; null without a comparison. */
const errorOf = ({ onnxRuntime }: Result): number | null =>
  onnxRuntime === null ? null : Math.max(...onnxRuntime.relativeErrors.tuned);

interface Summary {
  readonly models: number;
  readonly notPrepared: readonly string[];
  readonly stockDoesNotCompile: readonly string[];
  readonly broken: readonly string[];
  readonly notMeasured: readonly string[];
  /** Models with results that differ from stock's. */
  readonly wrong: readonly string[];
  /** Models with results that differ from ONNX Runtime's by more than rounding. */
  readonly unlikeOnnxRuntime: readonly string[];
  readonly sameCode: readonly string[];
  /** Gain over stock. */
  readonly gain: Rating;
  /** Gain over ONNX Runtime. */
  readonly overOnnxRuntime: Rating;
}

function summarise(results: readonly Result[]): Summary {
  const where = (holds: (result: Result) => boolean) => results.filter(holds).map(({ model }) => model);
  const inState = (state: Result['state']) => where((result) => result.state === state);
  return {
    models: results.length,
    notPrepared: inState('not prepared'),
    stockDoesNotCompile: inState('stock does not compile'),
    broken: inState('broken'),
    notMeasured: inState('not measured'),
    wrong: where(({ verdict }) => verdict?.equal === false),
    unlikeOnnxRuntime: where((result) => (errorOf(result) ?? 0) > MOST_RELATIVE_ERROR),
    sameCode: where(({ sameCode }) => sameCode),
    gain: ratingOf(results.map((result) => ({ model: result.model, gain: gainOf(result) }))),
    overOnnxRuntime: ratingOf(results.map((result) => ({ model: result.model, gain: gainOverPeer(result) }))),
  };
}

/** Null for wrong results. */
const gainOverPeer = ({ verdict, onnxRuntime }: Result) =>
  verdict?.equal === true && onnxRuntime !== null ? onnxRuntime.tuned.ratio : null;

export function summaryText(results: readonly Result[]): string {
  const summary = summarise(results);
  const mean = ({ geometricMean, rated }: Rating) =>
    `${ratioText(geometricMean)} over ${counted(rated, 'model')}; worst`;
  return [
    `models                  ${summary.models}`,
    `not prepared            ${listed(summary.notPrepared)}`,
    `stock does not compile  ${listed(summary.stockDoesNotCompile)}`,
    `broken by us            ${listed(summary.broken)}`,
    `not measured            ${listed(summary.notMeasured)}`,
    `wrong                   ${listed(summary.wrong)}`,
    `unlike ONNX Runtime     ${listed(summary.unlikeOnnxRuntime)}`,
    `same code               ${listed(summary.sameCode)}`,
    `tuned/stock             ${mean(summary.gain)} ${worstText(summary.gain)}`,
    `tuned/ONNX Runtime      ${mean(summary.overOnnxRuntime)} ${worstText(summary.overOnnxRuntime)}`,
  ].join('\n');
}
