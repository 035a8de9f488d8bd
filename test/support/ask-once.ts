// Runs before all tests with the real compiler: asks the compiler and Node (answers.ts), and cleans up its stored compiles
// (remembering-compiler.ts).
import { execFileSync } from 'node:child_process';

export default function setup(): void {
  // The runner's set-up does not resolve this package's sources, so run a separate process.
  const script = `
    const { askNode, askOnce } = await import('./answers.ts');
    const { tidyStores } = await import('./remembering-compiler.ts');
    tidyStores();
    askNode();
    await askOnce();`;
  execFileSync(process.execPath, ['--conditions=source', '--input-type=module', '--eval', script], {
    cwd: import.meta.dirname,
    env: { ...process.env, VITEST: undefined },
  });
}
