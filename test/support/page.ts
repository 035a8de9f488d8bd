// The blocks of shell of a page for people, each with who types it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './folders.ts';

export interface Block {
  /** Whose it is; null where it is not run. */
  readonly user: string | null;
  readonly script: string;
  /** Line of the page. */
  readonly line: number;
}

/**
 * All blocks of a page, in order. Throws where one does not say who runs it, or why nobody does.
 * @param notRun what a block may be marked with that is not run, and why it is not
 */
export function blocksOf(page: string, notRun: Readonly<Record<string, string>>): readonly Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  const found = text.matchAll(
    /(?:^<!-- (?<note>run as|not run): (?<who>\w+) -->\n)?^```sh\n(?<script>[^]*?)^```$/gm,
  );
  const blocks = [...found].map(({ groups, index }) => {
    const { note, who, script } = groups!;
    const line = text.slice(0, index).split('\n').length;
    if (note === undefined) throw new Error(`${page}:${line}: nobody says whether this is to be run`);
    if (note === 'not run' && notRun[who!] === undefined)
      throw new Error(`${page}:${line}: nobody knows why ${who!} is not run`);
    return { user: note === 'run as' ? who! : null, script: script!, line };
  });
  if (text.match(/^```sh$/gm)?.length !== blocks.length)
    throw new Error(`${page}: a block of shell does not end`);
  return blocks;
}
