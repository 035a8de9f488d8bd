// One module with many candidates: each is a function without arguments, or several of different sizes, so that one
// benchmark process times them all interleaved on the same operands.
import { loweringAttribute } from '../inject/attribute.ts';
import type { Configuration, PackedTiles } from '../space/configuration.ts';
import type { Release } from '../space/render.ts';
import { isFloat, isNarrowFloat } from '../workload/element-type.ts';
import { isDynamic, staticForms, type Workload } from '../workload/workload.ts';
import { declaration, emptyResult, initializer, load, operandsOf } from './candidate-operands.ts';
import { operationText, tensorType } from './candidate-operation.ts';

export interface Candidate {
  /** Function name, such as `c7`. */
  readonly name: string;
  /** `name = value` on the operation; null leaves it to the compiler. */
  readonly attribute: string | null;
  /** Tiles of what data tiling makes of the operation. */
  readonly packed?: PackedTiles;
  /** Accumulator's element type where it is not the workload's: of the truth, which is never timed. */
  readonly sumsIn?: string;
}

/**
 * What narrow accumulators are judged by: the same product of the same operands, summed in f32, which holds sums of such
 * small integers exactly. None where accumulators are wide enough to be exact themselves.
 */
export const truthOf = (workload: Workload): Candidate[] =>
  isNarrowFloat(workload.accumulator.elementType) ? [{ name: 'truth', attribute: null, sumsIn: 'f32' }] : [];

export function candidateOf(
  name: string,
  configuration: Configuration,
  workload: Workload,
  release: Release,
): Candidate {
  const attribute = loweringAttribute(configuration, workload, release);
  const packed = configuration.kind === 'data-tile' ? configuration.packed : undefined;
  return { name, attribute, ...(packed && { packed }) };
}

/** Functions of a candidate: one, or one for each combination of sizes that a workload with dynamic dimensions is tuned at. */
export const functionNames = (workload: Workload, candidate: string): string[] =>
  isDynamic(workload) ? staticForms(workload).map((_, i) => `${candidate}_at${i}`) : [candidate];

/** Text of the whole module. Line numbers of errors lead back to candidates through `candidateAtLine`. */
export function candidateModule(workload: Workload, candidates: readonly Candidate[]): string {
  const combinations = operandsOf(workload);
  // All left-hand sides first: a constant, which has no buffer, comes last.
  const operands = new Map(
    (['lhs', 'rhs'] as const).flatMap((name) =>
      combinations.map((combination) => [combination[name].global, combination[name]] as const),
    ),
  );
  const functions = candidates.flatMap(({ name, attribute, sumsIn }) => {
    const element = sumsIn ?? workload.accumulator.elementType;
    const own = { ...workload, accumulator: { ...workload.accumulator, elementType: element } };
    const type = tensorType(own, own.accumulator);
    return functionNames(workload, name).map(
      (functionName, i) => `func.func @${functionName}() -> ${type} {
${load(workload, combinations[i]!.lhs)}
${load(workload, combinations[i]!.rhs)}
  %zero = arith.constant ${isFloat(element) ? '0.0' : '0'} : ${element}
  %empty = ${emptyResult(own)}
  %init = linalg.fill ins(%zero : ${element}) outs(%empty : ${type}) -> ${type}
${operationText(own, attribute)}
  return %result : ${type}
}`,
    );
  });
  return `${[...operands.values()].map(declaration).join('\n')}
${initializer([...operands.values()])}
${functions.join('\n')}
`;
}

/** Name of the function that begins on a line of the module, as it is written or as the compiler prints it. */
export const functionAt = (line: string): string | null =>
  /^\s*(?:func\.func|util\.func public) @(\w+?)(?:_at\d+)?\(/.exec(line)?.[1] ?? null;

/** Name of the candidate whose function holds a 1-based line of the module's text; null for the common part. */
export function candidateAtLine(moduleText: string, line: number): string | null {
  const lines = moduleText.split('\n');
  for (let i = Math.min(line, lines.length) - 1; i >= 0; i--) {
    const name = functionAt(lines[i]!);
    if (name !== null) return name;
  }
  return null;
}
