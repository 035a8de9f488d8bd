// Did it land? The compiler itself says what each dispatch was really configured with.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withTrailingFlags, type Compile } from '../compiler/command.ts';
import { askCompiler } from '../compiler/ask.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import type { Decision } from '../decision/decision.ts';
import { ELIDED } from '../input/survey.ts';
import type { Injection } from './plan.ts';
import { landedOn, whatLanded } from './landed.ts';

/** How it is run. */
interface Asking {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cacheDirectory: string;
  readonly workSeconds?: number;
}

/**
 * Compiles once more up to the executables' configurations and looks there for the operations with each injected one.
 * @param asked the injected command, without the program
 * @returns for each decision, whether its configuration landed; null for one that injects nothing, and null
 *   altogether when the compiler did not get that far or there was no place for the dumps
 */
export async function proveLanded(
  executable: string,
  asked: Compile,
  decisions: readonly Decision[],
  route: Injection['route'],
  asking: Asking,
): Promise<(boolean | null)[] | null> {
  const texts = await configurationsOf(executable, asked, asking);
  return texts && whatLanded(landedOn(texts, decisions, route));
}

/** The executables' configurations, one text each; null when the compiler does not get that far or there is no place for them. */
export async function configurationsOf(
  executable: string,
  { argv, stdin }: Compile,
  asking: Asking,
): Promise<Uint8Array[] | null> {
  const folder = makeScratchFolder(asking.cacheDirectory, 'proof');
  if (folder === null) return null;
  try {
    // The compiler's dumps are from before it substitutes configured executables, its output is from after that.
    const output = join(folder, 'module.out');
    const flags = ['--compile-to=executable-configurations', ...ELIDED, '-o', output];
    const result = await askCompiler(executable, withTrailingFlags(argv, flags), { ...asking, stdin });
    return result.code === 0 ? executablesIn(readFileSync(output, 'latin1')) : null;
  } catch {
    // The build has succeeded already, or will: that nobody could look must not undo it.
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The executables of a program, one text each, as the compiler prints them. */
const executablesIn = (program: string): Uint8Array[] =>
  [...program.matchAll(/^ {2}hal\.executable [^]*?^ {2}\}$/gm)].map(([text]) => Buffer.from(text, 'latin1'));
