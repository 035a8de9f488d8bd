// Texts of results: tokens a second instead of times. Pure.
import type { Table } from '../shared/each-model.ts';
import type { Result } from '../shared/peers/measure.ts';
import { peerTable, tunedAgainstOnnxRuntime } from '../shared/peers/table.ts';
import { percent } from '../shared/rows.ts';
import { tokensOf } from './models.ts';

const perSecond = (seconds: number, model: string): string =>
  Number.isNaN(seconds) ? '-' : `${Number((tokensOf(model) / seconds).toPrecision(3))}/s`;

export const table: Table<Result> = peerTable(perSecond, {
  ...{ header: 'top 1', width: 5 },
  cell: (result) => percent(tunedAgainstOnnxRuntime(result)?.sameTop),
});
