// Lines for the next push to a team's server.
import type { Changes } from '../exchange/exchange.ts';
import type { Line } from '../exchange/lines.ts';
import { readValue } from '../exchange/read.ts';
import { PARTS, type PartType } from '../fields.ts';
import type { RecordKey } from '../store.ts';
import { selectChanged } from './exchange-statements.ts';
import { LINE_TYPES, lineOf, partLine, type PartRow } from './lines.ts';
import { selectPart } from './statements.ts';
import type { Prepare } from './write.ts';

const isSound = (line: Line): boolean => readValue(line).outcome === 'line';

/** The first `most` changes after `after`, with the lines of their keys. */
export function changesIn(statement: Prepare, after: number, most: number): Changes {
  const all = ([...LINE_TYPES, 'kept'] as const)
    .flatMap((table) => {
      const rows = statement(selectChanged(table)).all({ after, most }) as { readonly change: number }[];
      return rows.map((row) => ({ table, row, change: row.change }));
    })
    .sort((a, b) => a.change - b.change)
    .slice(0, most);
  const own = all
    .map(({ table, row }) => (table === 'kept' ? undefined : lineOf(table, row, statement)))
    .filter((line) => line !== undefined)
    .filter(isSound);
  const formOf = (type: PartType, key: string) =>
    statement(selectPart(type)).get(key) as Pick<PartRow, 'form'>;
  const parts = PARTS.flatMap((type) => {
    const keys = new Set(own.flatMap((line) => (type in line ? [(line as RecordKey)[type]] : [])));
    return [...keys].map((key) => partLine(type, { key, ...formOf(type, key) }));
  });
  return {
    lines: [...parts.filter(isSound), ...own],
    kept: all.flatMap(({ table, row }) =>
      table === 'kept' ? [(row as unknown as { line: string }).line] : [],
    ),
    last: all.at(-1)?.change ?? null,
  };
}
