// Did it land? The compiler's own dumps say what each dispatch was really configured with.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parse, type Operation } from 'mlir-parser-ts';
import { askCompiler, makeScratchFolder } from '../compiler/index.ts';
import type { Decision } from '../decision/decision.ts';
import type { DataTileConfiguration } from '../space/configuration.ts';
import { loweringConfig, packedLowering } from '../space/render.ts';
import type { Workload } from '../workload/workload.ts';
import { injectedLoops, type Route } from './plan.ts';

/** What data tiling makes of a contraction. */
const isPacked = ({ name }: Operation) => name === 'linalg.mmt4d' || name === 'linalg.batch_mmt4d';

/** Whether a packed operation is large enough for a workload, with less than a tile of padding on each side. */
function packs(operation: Operation, { dimensions }: Workload): boolean {
  const shapes = operation.operands.map(({ type }) => (type.kind === 'opaque' ? null : type.shape));
  const [lhs, rhs] = shapes.map((shape) => shape?.slice(-4));
  if (lhs?.length !== 4 || rhs?.length !== 4) return false;
  const fits = (kind: 'm' | 'n' | 'k', outer: number, inner: number) => {
    const { size, sizes } = dimensions.find((dimension) => dimension.kind === kind) ?? { size: 1 };
    return sizes === undefined ? outer === Math.ceil(size / inner) : outer < 0;
  };
  const [rows, columns] = [
    [lhs[0]!, lhs[2]!],
    [rhs[0]!, rhs[2]!],
  ] as const;
  // The compiler swaps the sides where that makes better use of the vectors.
  return (
    fits('k', lhs[1]!, lhs[3]!) &&
    ((fits('m', ...rows) && fits('n', ...columns)) || (fits('n', ...rows) && fits('m', ...columns)))
  );
}

/** What the dumps must hold of the tiles of a packed operation. A constant is packed when the module is compiled. */
function packedLandings({ packed }: DataTileConfiguration): string[] {
  if (packed === undefined) return [];
  const { multiply, pack } = packedLowering(packed);
  return [multiply, pack].filter((text) => text !== null);
}

/** Flags by which the user looks into a compile: at his own, not at what we ask the compiler beside it. */
const DUMPS =
  /^--?(?:dump-compilation-phases-to|iree-hal-dump-executable-[a-z]+-to|iree-codegen-dump-tuning-specs-to)(=|$)/;

/**
 * The user's command for a question of ours: without his dumps, and with flags at the end, but before `--`, behind which
 * everything is positional.
 */
export function withTrailingFlags(argv: readonly string[], flags: readonly string[]): string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const own: string[] = [];
  for (let i = 0; i < end; i++) {
    const dump = DUMPS.exec(argv[i]!);
    if (dump === null) own.push(argv[i]!);
    // Its value is the next argument.
    else if (dump[1] === '') i++;
  }
  return [...own, ...flags, ...argv.slice(end)];
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
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    const packed = dumps.flatMap((dump) => parse(Buffer.from(dump)).operations).filter(isPacked);
    return decisions.map(({ tunable, configuration }) => {
      if (tunable === null || configuration === null) return null;
      switch (configuration.kind) {
        case 'default':
          return null;
        case 'tile': {
          const text = loweringConfig(configuration, injectedLoops(route, tunable));
          return dumps.some((dump) => dump.includes(text));
        }
        case 'data-tile':
          return (
            packed.some((operation) => packs(operation, tunable.workload)) &&
            packedLandings(configuration).every((text) => dumps.some((dump) => dump.includes(text)))
          );
      }
    });
  } catch {
    // The build has succeeded already: that nobody could look must not undo it.
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
