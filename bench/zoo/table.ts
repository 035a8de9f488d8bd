// Texts of results of the zoo, whose light models are also summarised alone. Pure.
import { formatSeconds } from '../../src/system/format.ts';
import type { Table } from '../shared/each-model.ts';
import type { Result } from '../shared/peers/measure.ts';
import {
  meansOf,
  meanText,
  peerTable,
  summarise,
  summaryLine,
  summaryText as allText,
} from '../shared/peers/table.ts';
import { hasLrn, isLight } from './models.ts';

/** Number of operations that are compiled in another form. */
const formsOf = ({ explanation }: Result): string => {
  if (explanation === null) return '-';
  const { forms } = explanation;
  return String(forms?.used === true ? forms.operations.length : 0);
};

export const table: Table<Result> = {
  ...peerTable(formatSeconds, { header: 'forms', width: 5, cell: formsOf }),
  summarise: (results) => ({ ...summarise(results), ...lightMeans(results) }),
};

function lightMeans(results: readonly Result[]) {
  const light = results.filter(({ model }) => isLight(model));
  return { light: meansOf(light), withoutLrn: meansOf(light.filter(({ model }) => !hasLrn(model))) };
}

export function summaryText(results: readonly Result[]): string {
  const { light, withoutLrn } = lightMeans(results);
  const [ofLight, ofRest] = [light, withoutLrn].map((means) =>
    means.find(({ rival }) => rival === 'onnxRuntime')!,
  );
  const lightLine = summaryLine(
    'light models, tuned/ONNX Runtime',
    `${meanText(ofLight!)}; without LRN ${meanText(ofRest!)}`,
  );
  return [allText(results), ...(ofLight!.rated === 0 ? [] : [lightLine])].join('\n');
}
