// A compiler that compiles the same thing once: tests that look at what happens around a build have the real compiler's own
// result again, where another test had it before. Half of all that tests compile are the same few inputs.
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ONCE } from './ask-once.ts';
import { temporaryDirectory } from './folders.ts';
import { compiler, runtimeTool } from './real-tools.ts';
import { compilerBelow, installScripts } from './scripts.ts';

/** A regular expression: folders of tests have other names in every run. */
const PLACE = `${join(tmpdir(), 'iree-tuned-test-').replaceAll(/[.[\]*^$\\|]/g, String.raw`\$&`)}[A-Za-z0-9]*`;

/**
 * Writes it below `folder`, laid out as pip does, where it keeps what it has compiled. What came of it is known by the command
 * line, without the names of tests' folders and of the output, and by the contents of all files that are named there. It is
 * kept only where nothing else can count: flags that read and write nothing but these, success, and no such name in the
 * result. For everything else the script becomes the real compiler.
 * @returns its path
 */
export function writeRememberingCompiler(folder: string): string {
  const kept = join(folder, 'compiled');
  mkdirSync(kept, { recursive: true });
  const settings = `real='${compiler.executable}' kept='${kept}' place='${PLACE}'`;
  return installScripts(folder, {
    compile: `${settings}\n. '${join(import.meta.dirname, 'remembering-compiler.sh')}'`,
    benchmark: `exec '${runtimeTool('iree-benchmark-module')}' "$@"`,
    run: `exec '${runtimeTool('iree-run-module')}' "$@"`,
  });
}

const once = process.env[ONCE];

/** The one of this run of tests, or of this process. */
export const rememberingCompiler =
  once === undefined ? writeRememberingCompiler(temporaryDirectory()) : compilerBelow(join(once, 'compiler'));
