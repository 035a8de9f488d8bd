// Did it land? The compiler's own dumps say what each dispatch was really configured with.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { askCompiler, withTrailingFlags } from '../compiler/index.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import type { Decision } from '../decision/decision.ts';
import type { Route } from '../settings/settings.ts';
import { whatLanded } from './landed.ts';

/**
 * Compiles once more up to the executables' configurations and looks in the dumps for the operations with each injected one.
 * @param argv the injected command, without the program
 * @returns for each decision, whether its configuration landed; null for one that injects nothing, and null
 *   altogether when the compiler did not get that far or there was no place for the dumps
 */
export async function proveLanded(
  executable: string,
  argv: readonly string[],
  decisions: readonly Decision[],
  route: Route,
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly stdin: Uint8Array | undefined;
    readonly cacheDirectory: string;
  },
): Promise<(boolean | null)[] | null> {
  const folder = makeScratchFolder(options.cacheDirectory, 'proof');
  if (folder === null) return null;
  try {
    const flags = [
      '--compile-to=executable-configurations',
      `--iree-hal-dump-executable-configurations-to=${folder}`,
      '-o',
      join(folder, 'module.out'),
    ];
    const result = await askCompiler(executable, withTrailingFlags(argv, flags), options);
    if (result.code !== 0) return null;
    const dumps = readdirSync(folder)
      .filter((name) => name.endsWith('.mlir'))
      .map((name) => readFileSync(join(folder, name)));
    return whatLanded(dumps, decisions, route);
  } catch {
    // The build has succeeded already: that nobody could look must not undo it.
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
