// Did it land? The compiler's own dumps say what each dispatch was really configured with.
import { mkdtempSync, readdirSync, readFileSync, rmSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runCompiler } from '../compiler/run.ts';
import type { Decision } from '../decision/decision.ts';
import { loweringConfig } from '../space/render.ts';

/** Flags that belong to the end of a command, but before `--`, behind which everything is positional. */
export function withTrailingFlags(argv: readonly string[], flags: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return end < 0 ? [...argv, ...flags] : [...argv.slice(0, end), ...flags, ...argv.slice(end)];
}

/**
 * Compiles once more up to the executables' configurations and looks for each injected one in the dumps.
 * @param argv the injected command, without the program
 * @returns for each decision, whether its configuration landed; null for one that injects nothing, and null
 *   altogether when the compiler did not get that far or there was no place for the dumps
 */
export async function proveLanded(
  executable: string,
  argv: readonly string[],
  decisions: readonly Decision[],
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly stdin: Uint8Array | undefined;
    readonly cacheDirectory: string;
  },
): Promise<(boolean | null)[] | null> {
  let folder: string;
  try {
    mkdirSync(options.cacheDirectory, { recursive: true });
    folder = mkdtempSync(join(options.cacheDirectory, 'proof-'));
  } catch {
    return null;
  }
  try {
    const flags = [
      '--compile-to=executable-configurations',
      `--iree-hal-dump-executable-configurations-to=${folder}`,
      '-o',
      join(folder, 'module.out'),
    ];
    const result = await runCompiler(executable, withTrailingFlags(argv, flags), {
      env: options.env,
      stdin: options.stdin ?? new Uint8Array(),
      capture: true,
    });
    if (result.code !== 0) return null;
    const dumps = readdirSync(folder)
      .filter((name) => name.endsWith('.mlir'))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    return decisions.map(({ tunable, configuration }) => {
      if (tunable === null || configuration?.kind !== 'tile') return null;
      const text = loweringConfig(configuration, tunable.loops);
      return dumps.some((dump) => dump.includes(text));
    });
  } catch {
    // The build has succeeded already: that nobody could look must not undo it.
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
