// The proof that configurations landed: the compiler prints the configuration of each dispatch.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTrailingFlags, type Compile } from '../compiler/command.ts';
import { compileAside } from '../compiler/ask.ts';
import { withScratchFolder } from '../system/scratch.ts';
import type { Decision } from '../decision/decision.ts';
import { ELIDED } from '../input/survey.ts';
import type { Injection } from './plan.ts';
import { landedOn, whatLanded } from './landed.ts';

/** Environment and limit of the compile. */
interface Asking {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cacheDirectory: string;
  readonly workSeconds?: number;
}

/**
 * Compiles up to the configured executables, and looks for each configuration in them.
 * @returns for each decision, whether its configuration landed; null for a decision without an injection. Null if the compile fails, or no
 *   folder can be created
 */
export async function proveLanded(
  executable: string,
  { forExecutables, route }: { readonly forExecutables: Compile; readonly route: Injection['route'] },
  decisions: readonly Decision[],
  asking: Asking,
): Promise<(boolean | null)[] | null> {
  const texts = await configurationsOf(executable, forExecutables, asking);
  return texts && whatLanded(landedOn(texts, decisions, route));
}

/** The configured executables, one text each; null if the compile fails, or no folder can be created. */
export async function configurationsOf(
  executable: string,
  { argv, stdin }: Compile,
  asking: Asking,
): Promise<Uint8Array[] | null> {
  try {
    return await withScratchFolder(asking.cacheDirectory, 'proof', async (folder) => {
      // The output has the substituted executables; the compiler's dumps do not.
      const output = join(folder, 'module.out');
      const flags = ['--compile-to=executable-configurations', ...ELIDED, '-o', output];
      const result = await compileAside(executable, withTrailingFlags(argv, flags), { ...asking, stdin });
      return result.code === 0 ? executablesIn(readFileSync(output, 'latin1')) : null;
    });
  } catch {
    // A proof that fails must not fail the build.
    return null;
  }
}

/** The executables of a printed program, one text each. */
const executablesIn = (program: string): Uint8Array[] =>
  [...program.matchAll(/^ {2}hal\.executable [^]*?^ {2}\}$/gm)].map(([text]) => Buffer.from(text, 'latin1'));
