// Before all tests with the real compiler: a folder for what is done once for all of them. What the compiler answers to every
// build is asked once, see answers.ts, and what is compiled for several of them is kept, see remembering-compiler.ts.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Names the folder; not set without vitest. */
export const ONCE = 'DONE_ONCE_FOR_ALL_TESTS';

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'iree-tuned-once-'));
  // In a process of its own, which finds this package's sources as everything but the runner's set-up does.
  const script = `
    const folder = ${JSON.stringify(folder)};
    const { askOnce } = await import('./answers.ts');
    const { writeRememberingCompiler } = await import('./remembering-compiler.ts');
    writeRememberingCompiler(folder + '/compiler');
    await askOnce(folder + '/answers');`;
  execFileSync(process.execPath, ['--conditions=source', '--input-type=module', '--eval', script], {
    cwd: import.meta.dirname,
    env: { ...process.env, VITEST: undefined },
  });
  process.env[ONCE] = folder;
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
