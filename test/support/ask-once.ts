// Before all tests with the real compiler: what it answers to every build is asked once, see answers.ts.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Names the folder with the real compiler's answers; not set where nobody has asked. */
export const ANSWERS = 'ANSWERS_OF_IREE_COMPILE';

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'iree-tuned-answers-'));
  // In a process of its own, which finds this package's sources as everything but the runner's set-up does.
  const script = `import('./answers.ts').then(({ askOnce }) => askOnce(${JSON.stringify(folder)}))`;
  execFileSync(process.execPath, ['--conditions=source', '--input-type=module', '--eval', script], {
    cwd: import.meta.dirname,
    env: { ...process.env, VITEST: undefined },
  });
  process.env[ANSWERS] = folder;
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
