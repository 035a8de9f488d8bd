// One module with many candidates, so that one benchmark process times all of them interleaved on the same operands. Each candidate
// is a function without arguments, or one such function for each combination of sizes.
import { functions, lineIndex } from 'mlir-parser-ts';
import { attributeText, directiveOf } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import type { Release } from '../compiler/release.ts';
import { fillerDeclarations, fillerDefinitions } from '../workload/fillers.ts';
import { guardedName, plainName } from '../workload/guarded.ts';
import {
  candidateLoops,
  exactTypeOf,
  fillersOf,
  functionText,
  isDynamic,
  operandsText,
  resultTypeOf,
  staticForms,
  type OperationWork,
} from '../workload/workload.ts';

export interface Candidate {
  /** Name of the function, such as `c7`. */
  readonly name: string;
  /** `name = value` on the operation; null for the compiler's own choice. */
  readonly attribute: string | null;
  /** The configuration that the attribute renders; absent for an attribute without a configuration. */
  readonly configuration?: Configuration;
  /** Only for the truth: element type of its result. */
  readonly sumsIn?: string;
  /** Whether a second function writes the result between guards: see `guarded.ts`. */
  readonly isGuarded?: boolean;
}

/**
 * The truth is the same work on the same operands in a type that is exact. Inexact results are compared with the truth. The truth is
 * never timed.
 * @returns one candidate; none where the workload's own type is exact
 */
export function truthOf(workload: OperationWork): Candidate[] {
  const exact = exactTypeOf(workload);
  return exact === null ? [] : [{ ...stockCandidate('truth'), sumsIn: exact }];
}

/** The untuned operation. */
export const stockCandidate = (name: string): Candidate => ({ name, attribute: null });

export function candidateOf(
  name: string,
  configuration: Configuration,
  workload: OperationWork,
  release: Release,
): Candidate {
  const directive = directiveOf(configuration, candidateLoops(workload), release);
  return { name, attribute: directive && attributeText(directive), configuration };
}

/** Functions of a candidate: one; with dynamic dimensions, one for each combination of sizes. */
export const functionNames = (workload: OperationWork, candidate: string): string[] =>
  isDynamic(workload) ? staticForms(workload).map((_, i) => `${candidate}_at${i}`) : [candidate];

export const EMPTY_MODULE = 'module {\n}\n';

/** Adds to a module's text the declarations of the functions that fill a workload's operands. Another module defines them. */
export function declaringFillers(text: string, workload: OperationWork): string {
  const end = text.lastIndexOf('}');
  return `${text.slice(0, end)}${fillerDeclarations(fillersOf(workload))}${text.slice(end)}`;
}

/** Text of a module that holds only the functions that fill a workload's operands. */
export const moduleWithFillers = (workload: OperationWork): string =>
  `module {\n${fillerDefinitions(fillersOf(workload))}}\n`;

/**
 * Text of the whole module. `candidateAtLine` maps the lines of errors to candidates.
 * @param around text of the module that candidates are added to, in their phase of the compiler. It declares or defines the functions
 * that fill the operands; the default defines them
 * @param executions of the work in one call of a function: see `CandidateFunction`
 */
export function candidateModule(
  workload: OperationWork,
  candidates: readonly Candidate[],
  around: string = moduleWithFillers(workload),
  executions = 1,
): string {
  const functions = candidates.flatMap(({ name, attribute, sumsIn, isGuarded }) =>
    functionNames(workload, name).flatMap((plain, form) => {
      const own = { form, attribute, resultType: sumsIn ?? resultTypeOf(workload), executions };
      return [
        functionText(workload, { ...own, name: plain, isGuarded: false }),
        ...(isGuarded === true
          ? [functionText(workload, { ...own, name: guardedName(plain), isGuarded: true, executions: 1 })]
          : []),
      ];
    }),
  );
  const end = around.lastIndexOf('}');
  return `${around.slice(0, end)}${operandsText(workload)}\n${functions.join('\n')}\n${around.slice(end)}`;
}

/** The functions of candidates in our text or in the compiler's, in its order. Lines are 1-based and inclusive. */
export function candidateFunctions(
  moduleText: string,
): { candidate: string; firstLine: number; lastLine: number }[] {
  const bytes = Buffer.from(moduleText);
  const lines = lineIndex(bytes);
  return functions(bytes).map(({ name, start, end }) => ({
    candidate: plainName(name).replace(/_at\d+$/, ''),
    firstLine: lines.locate(start).line,
    lastLine: lines.locate(end).line,
  }));
}

/** Name of the candidate at a 1-based line of the module's text; null for the common part. */
export const candidateAtLine = (moduleText: string, line: number): string | null =>
  candidateFunctions(moduleText).find(({ firstLine, lastLine }) => firstLine <= line && line <= lastLine)
    ?.candidate ?? candidateOfExecutable(moduleText.split('\n').slice(0, line));

/** The candidate whose executable holds the last of these lines. Dispatches come with executables of their own. */
function candidateOfExecutable(lines: readonly string[]): string | null {
  const begin = lines.findLast((line) => /^ {2}\S/.test(line) && line !== '  }');
  return /^ {2}flow\.executable private @x_(\w+) \{/.exec(begin ?? '')?.[1] ?? null;
}
