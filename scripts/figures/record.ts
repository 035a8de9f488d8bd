// `npm run make:recording`: runs the commands of the README's recording in an empty home, and writes their outputs into the page. It tunes
// for a minute, so the machine has to be idle.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onTerminal } from '../../test/support/terminal.ts';
import { recordedAgain } from './recording.ts';

const root = join(import.meta.dirname, '..', '..');
const page = join(root, 'README.md');
const folder = mkdtempSync(join(tmpdir(), 'recording-'));
try {
  symlinkSync(join(root, 'examples'), join(folder, 'examples'));
  mkdirSync(join(folder, 'home'));
  const [, FLAGS] = /^export FLAGS='(.*)'$/m.exec(readFileSync(page, 'utf8'))!;
  const { PATH = '', LANG } = process.env;
  const path = [join(root, 'bin'), join(root, '.venv', 'bin'), PATH].join(delimiter);
  const env = {
    ...{ HOME: join(folder, 'home'), PATH: path, FLAGS },
    ...{ LANG, TERM: 'xterm', NO_COLOR: '1' },
  };
  const text = await recordedAgain(readFileSync(page, 'utf8'), async (command) => {
    const ran = await onTerminal(100, ['sh', '-c', command], { cwd: folder, env });
    if (ran.code !== 0) throw new Error(`${command}: ${ran.text}`);
    return ran.text;
  });
  writeFileSync(page, text);
} finally {
  rmSync(folder, { recursive: true });
}
