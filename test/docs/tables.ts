// Tables of pages, generated from the code.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/folders.ts';

export const code = (text: string): string => `\`${text}\``;

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

export interface Page {
  readonly path: string;
  /** Text with the tables in their places. */
  readonly text: string;
  /** Names of the replaced tables, in their order. */
  readonly placed: readonly string[];
}

/** The page with these tables; its other tables stay as they are. */
export function pageWith(page: string, tables: Readonly<Record<string, string>>): Page {
  const path = join(root, page);
  const placed: string[] = [];
  const text = readFileSync(path, 'utf8').replaceAll(
    /(<!-- table: (.*) -->\n)([^]*?\n|)(?=<!-- end -->)/g,
    (_, mark: string, name: string, before: string) => {
      const own = tables[name];
      if (own !== undefined) placed.push(name);
      return mark + (own === undefined ? before : `${own}\n`);
    },
  );
  return { path, text, placed };
}
