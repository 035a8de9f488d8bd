// Candidates whose packed operations get tiles of their own. Packed operations exist only after the compiler's global
// optimisation, and those of all candidates look alike, so that no spec could tell them apart: the compiler stops
// there, attributes are written into what it has made, and it goes on from that text.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'mlir-parser-ts';
import { DATA_TILING_HINT, preprocessingFlags, preprocessingSpec } from '../inject/preprocess.ts';
import { DATA_TILE_CONFIGURATION, type PackedForm, type PackedTiles } from '../space/configuration.ts';
import { packedFormOf } from '../space/packed.ts';
import { packedInfo } from '../space/render.ts';
import type { Workload } from '../workload/workload.ts';
import { candidateModule, candidateOf, functionAt, type Candidate } from './candidate-module.ts';
import { runTool, type Toolchain } from './toolchain.ts';

/** The compiler's phase after which operations are packed. */
const PHASE = 'global-optimization';
export const UP_TO_PACKED = `--compile-to=${PHASE}`;
export const ON_FROM_PACKED = `--compile-from=${PHASE}`;

/** Flags for modules with candidates that ask for data tiling; for the others the flag must change nothing. */
export async function dataTilingFlags(
  { workDirectory, release }: Toolchain,
  candidates: readonly Candidate[],
): Promise<string[]> {
  if (!candidates.some(({ attribute }) => attribute === DATA_TILING_HINT)) return [];
  const path = join(workDirectory, 'hints.mlir');
  await writeFile(path, preprocessingSpec([], release, { dataTileOnlyWhereAsked: true }));
  return preprocessingFlags(path, true);
}

const SECONDS_TO_PACK = 10;

/** What the compiler packs a workload into; null when it does not, or not into one operation without a batch. */
export async function findPackedForm(toolchain: Toolchain, workload: Workload): Promise<PackedForm | null> {
  const candidate = candidateOf('packed', DATA_TILE_CONFIGURATION, workload, toolchain.release);
  const [source, made] = ['packed.mlir', 'packed.made.mlir'].map((name) =>
    join(toolchain.workDirectory, name),
  );
  await writeFile(source!, candidateModule(workload, [candidate]));
  const flags = [...toolchain.flags, ...(await dataTilingFlags(toolchain, [candidate])), UP_TO_PACKED];
  const { ok } = await runTool(
    toolchain.compiler,
    [...flags, source!, '-o', made!],
    SECONDS_TO_PACK,
    toolchain.signal,
  );
  if (!ok) return null;
  const packed = parse(await readFile(made!)).operations.filter(({ name }) => name === 'linalg.mmt4d');
  const [first, second] = (packed.length === 1 ? packed[0]!.operands : []).map(({ type }) =>
    type.kind === 'opaque' ? null : type.shape,
  );
  return first && second ? packedFormOf(workload, [first, second]) : null;
}

/** The optimised text of a module of candidates, with the tiles of each written on its packed operations. */
export function withPackedTiles(optimised: string, candidates: readonly Candidate[]): string {
  const tiles = new Map(candidates.map(({ name, packed }) => [name, packed]));
  let current: PackedTiles | undefined;
  return optimised
    .split('\n')
    .map((line) => {
      const name = functionAt(line);
      if (name !== null) current = tiles.get(name);
      if (current === undefined) return line;
      const { multiply, pack } = packedInfo(current);
      if (multiply !== null)
        line = line.replace(/= linalg\.mmt4d (?=ins)/, `$&{compilation_info = ${multiply}} `);
      if (pack !== null)
        line = line.replace(/= linalg\.pack .* into %[\w#]+/, `$& {compilation_info = ${pack}}`);
      return line;
    })
    .join('\n');
}
