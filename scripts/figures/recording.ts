// The recording of a terminal in a page: a block after `<!-- recording -->`. Each line `$ COMMAND` has the command's output below.

const BLOCK = /(<!-- recording -->\n```\n)([^]*?\n)(?=```)/;

/** The recorded commands and their outputs. */
export const recordingIn = (page: string): string => BLOCK.exec(page)![2]!;

/** The page with a new recording of the same commands. @param run output of a command at a terminal */
export async function recordedAgain(
  page: string,
  run: (command: string) => Promise<string>,
): Promise<string> {
  const lines: string[] = [];
  for (const [, command] of recordingIn(page).matchAll(/^\$ (.*)$/gm))
    lines.push(`$ ${command!}\n`, leftOnTerminal(await run(command!)));
  return page.replace(BLOCK, (_, before: string) => before + lines.join(''));
}

const ERASE = '\r\u001b[2K';

/** The lines that stay: a line that is updated in place is erased. */
const leftOnTerminal = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.split(ERASE).at(-1)!)
    .join('\n');
