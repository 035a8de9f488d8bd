// Before all tests with the real compiler: what it answers to every build is asked, see answers.ts, and what it has compiled in
// earlier runs is tidied, see remembering-compiler.ts.
import { execFileSync } from 'node:child_process';

export default function setup(): void {
  // In a process of its own, which finds this package's sources as everything but the runner's set-up does.
  const script = `
    const { askOnce } = await import('./answers.ts');
    const { tidyStores } = await import('./remembering-compiler.ts');
    tidyStores();
    await askOnce();`;
  execFileSync(process.execPath, ['--conditions=source', '--input-type=module', '--eval', script], {
    cwd: import.meta.dirname,
    env: { ...process.env, VITEST: undefined },
  });
}
