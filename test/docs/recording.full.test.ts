// The README's recording shows the output of its commands at a terminal. Numbers differ from machine to machine.
// In full after a change of README.md, scripts/figures/recording.ts.
import { readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { recordedAgain, recordingIn } from '../../scripts/figures/recording.ts';
import { HOST, Workplace } from '../scenarios/support.ts';
import { isWithout } from '../support/needs.ts';
import { root } from '../support/real-tools.ts';
import { noTerminals, onTerminal } from '../support/terminal.ts';

/** Without numbers and line breaks. */
const constantPart = (text: string) =>
  text
    .replaceAll(/[\d.]*\d/g, '#')
    .replaceAll(/# min(?: # s)?/g, '# s')
    .replaceAll(/\s+/g, ' ');

test.skipIf(isWithout(noTerminals))(
  'the recorded commands print the recorded words',
  { timeout: 240_000 },
  async () => {
    const place = Workplace.simulated({ TERM: 'xterm', NO_COLOR: '1' }, { isShort: true });
    symlinkSync(join(root, 'examples'), place.path('examples'));
    const env = {
      ...place.env,
      PATH: [join(root, 'bin'), place.env['PATH'] ?? process.env['PATH']!].join(delimiter),
      FLAGS: HOST.join(' '),
    };
    const page = readFileSync(join(root, 'README.md'), 'utf8');
    const now = await recordedAgain(page, async (command) => {
      const { code, text } = await onTerminal(100, ['sh', '-c', command], { cwd: place.folder, env });
      expect(code, command).toBe(0);
      return text;
    });
    expect(constantPart(recordingIn(now))).toBe(constantPart(recordingIn(page)));
  },
);
