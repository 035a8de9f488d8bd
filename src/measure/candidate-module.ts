// One module with many candidates: each is a function without arguments, or several of different sizes, so that one
// benchmark process times them all interleaved on the same operands.
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
  /** Function name, such as `c7`. */
  readonly name: string;
  /** `name = value` on the operation; null leaves it to the compiler. */
  readonly attribute: string | null;
  /** What it was made of; absent where there is nothing but the attribute. */
  readonly configuration?: Configuration;
  /** Element type of the result where it is not the workload's: of the truth, which is never timed. */
  readonly sumsIn?: string;
  /** Whether there is a function that writes its result between guards, too: see `guarded.ts`. */
  readonly isGuarded?: boolean;
}

/**
 * What inexact results are judged by: the same work on the same operands, in a type in which it is exact. None where
 * results are exact in their own.
 */
export function truthOf(workload: OperationWork): Candidate[] {
  const exact = exactTypeOf(workload);
  return exact === null ? [] : [{ ...stockCandidate('truth'), sumsIn: exact }];
}

/** The operation as the compiler would have it. */
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

/** Functions of a candidate: one, or one for each combination of sizes that a workload with dynamic dimensions is tuned at. */
export const functionNames = (workload: OperationWork, candidate: string): string[] =>
  isDynamic(workload) ? staticForms(workload).map((_, i) => `${candidate}_at${i}`) : [candidate];

export const EMPTY_MODULE = 'module {\n}\n';

/** Text of a module that says, too, by what functions of another one a workload's operands are filled. */
export function declaringFillers(text: string, workload: OperationWork): string {
  const end = text.lastIndexOf('}');
  return `${text.slice(0, end)}${fillerDeclarations(fillersOf(workload))}${text.slice(end)}`;
}

/** Text of a module for candidates of a workload, without anything but what fills their operands. */
export const moduleWithFillers = (workload: OperationWork): string =>
  `module {\n${fillerDefinitions(fillersOf(workload))}}\n`;

/**
 * Text of the whole module. Line numbers of errors lead back to candidates through `candidateAtLine`.
 * @param around text of the module that candidates are added to, as it is in their phase: what fills their operands is
 * declared there, or defined, as it is when left out
 */
export function candidateModule(
  workload: OperationWork,
  candidates: readonly Candidate[],
  around: string = moduleWithFillers(workload),
): string {
  const functions = candidates.flatMap(({ name, attribute, sumsIn, isGuarded }) =>
    functionNames(workload, name).flatMap((plain, form) => {
      const own = { form, attribute, resultType: sumsIn ?? resultTypeOf(workload) };
      return [
        functionText(workload, { ...own, name: plain, isGuarded: false }),
        ...(isGuarded === true
          ? [functionText(workload, { ...own, name: guardedName(plain), isGuarded: true })]
          : []),
      ];
    }),
  );
  const end = around.lastIndexOf('}');
  return `${around.slice(0, end)}${operandsText(workload)}\n${functions.join('\n')}\n${around.slice(end)}`;
}

/** The candidate that a function of the module belongs to, as it is written or as the compiler prints it. */
export interface CandidateFunction {
  /** Name of the candidate. */
  readonly candidate: string;
  /** 1-based lines of the text, the last one included. */
  readonly firstLine: number;
  readonly lastLine: number;
}

/** The functions of candidates in a module's text, in its order. */
export function candidateFunctions(moduleText: string): CandidateFunction[] {
  const bytes = Buffer.from(moduleText);
  const lines = lineIndex(bytes);
  return functions(bytes).map(({ name, start, end }) => ({
    candidate: plainName(name).replace(/_at\d+$/, ''),
    firstLine: lines.locate(start).line,
    lastLine: lines.locate(end).line,
  }));
}

/** Name of the candidate whose function holds a 1-based line of the module's text; null for the common part. */
export const candidateAtLine = (moduleText: string, line: number): string | null =>
  candidateFunctions(moduleText).find(({ firstLine, lastLine }) => firstLine <= line && line <= lastLine)
    ?.candidate ?? candidateOfExecutable(moduleText.split('\n').slice(0, line));

/** The candidate whose executable the last one of these lines stands in, where candidates bring their own. */
function candidateOfExecutable(lines: readonly string[]): string | null {
  const begin = lines.findLast((line) => /^ {2}\S/.test(line) && line !== '  }');
  return /^ {2}flow\.executable private @x_(\w+) \{/.exec(begin ?? '')?.[1] ?? null;
}
