// The blocks of a page: shell with its user, and files.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './folders.ts';

/** Marks of blocks that no test runs, each with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  bazel: 'Bazel downloads itself; a shell runs the command of the rule',
  docker: 'the machine that runs the tests may have no Docker',
  marked: 'no build on the page fails; test/cli tests restore --marks',
  sources: "it takes IREE's sources and an hour; clients.test.ts has a project with the same calls of CMake",
  systemd: 'it makes a service of this machine',
  torch: 'PyTorch has 200 MB; the syntax of the program is checked',
};

export interface Block {
  /** User who types the block; null if no test runs it. */
  readonly user: string | null;
  /** Path of a file that the page shows. */
  readonly path: string | null;
  readonly language: string;
  readonly text: string;
  /** Page and line, for messages. */
  readonly at: string;
}

/**
 * All blocks of a page in order.
 * @param soleUser user of the blocks without a mark
 * @throws Error if a block of shell has neither a user nor a reason against a run
 */
export function blocksOf(page: string, soleUser?: string): readonly Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  const found = text.matchAll(
    /(?:^<!-- (?<note>run as|on|not run|file): (?<what>\S+) -->\n)?^```(?<language>\w+)\n(?<text>[^]*?)^```$/gm,
  );
  const blocks = [...found].map(({ groups, index }): Block => {
    const { note, what, language, text: own } = groups!;
    const at = `${page}:${text.slice(0, index).split('\n').length}`;
    if (note === undefined && language === 'sh' && soleUser === undefined)
      throw new Error(`${at}: the block has no user and no reason against a run`);
    if (note === 'not run' && NOT_RUN[what!] === undefined)
      throw new Error(`${at}: unknown reason against a run: ${what!}`);
    const unmarked = language === 'sh' ? (soleUser ?? null) : null;
    return {
      user: note === undefined ? unmarked : note === 'run as' || note === 'on' ? what! : null,
      path: note === 'file' ? what! : null,
      ...{ language: language!, text: own!, at },
    };
  });
  if (text.match(/^```\w+$/gm)?.length !== blocks.length) throw new Error(`${page}: a block does not end`);
  return blocks;
}

/** Commands of the steps of a workflow, or of a part of it. Without those that install on GitHub's machines. */
export const stepsOf = (workflow: string): string[] =>
  [...workflow.matchAll(/^ {6}- run: (.*?)(?: # .*)?$/gm)]
    .map(([, command]) => command!)
    .filter((command) => !/^pip install |"\$GITHUB_PATH"$/.test(command));

/** Command lines of a service's file: a unit of systemd, or a compose file with a list of plain words. */
export const startedBy = (file: string): string[] => [
  ...[...file.matchAll(/^ExecStart=(.*)$/gm)].map(([, line]) => line!),
  ...[...file.matchAll(/^ *command:\n((?: +- \S+\n)+)/gm)].map(([, list]) =>
    list!.replaceAll(/\s+- /g, ' ').trim(),
  ),
];
