// The command line of an injection, and the files that it reads. The cache keeps files that replace executables for later builds.
import { existsSync } from 'node:fs';
import { applyInsertions } from 'mlir-parser-ts';
import { flagIsOn } from '../compiler/arguments.ts';
import {
  inputName,
  NO_CHECKS,
  passesOf,
  rewrittenCompile,
  withTrailingFlags,
  type Command,
  type Compile,
} from '../compiler/command.ts';
import { mapDiagnostics } from '../inject/diagnostics.ts';
import type { ExecutableTexts } from '../inject/executable-sources.ts';
import { specFlags, substituteFlag, withoutNotes, type SubstituteFile } from '../inject/injection-flags.ts';
import { isOfDispatch, matchesGenerated, type Entry } from '../inject/plan.ts';
import type { Input } from '../input/input.ts';
import { surveyMemory } from '../input/survey-memory.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { pipelineFlags } from '../spec/pipeline.ts';
import { SUBSTITUTES } from '../system/cache.ts';
import { hasFields, isText, listOf } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import type { FormedProgram } from './inspected.ts';
import { flowOf, type KeptModules } from './kept-modules.ts';
import type { Plan } from './route.ts';
import { textWriter } from './write-once.ts';

/** A command with its injection. */
export interface InjectedCommand extends Compile {
  readonly plan: Plan;
  /** The compile that proves the landing: it starts at the end of `flow` if the program was split there. */
  readonly forExecutables: Compile;
  /** Files of the injection in the cache folder. */
  readonly files: readonly string[];
  /** Maps messages about an edited copy to the user's input; null if the compiler reads the user's input. */
  readonly mapMessages: ((messages: string) => string) | null;
}

/** The command without configurations, in its forms. */
export function untunedCompile({ command, inspected }: FormedProgram): Compile {
  const { argv, stdin } = rewrittenCompile(command, inspected.input);
  return { argv: [...pipelineFlags(passesOf(command)), ...argv], stdin };
}

/** Arguments that compile a file with the program at the end of `flow`. */
export const resumedCompile = ({ expanded, arguments: { input } }: Command, path: string): string[] =>
  withTrailingFlags(expanded.with(input!.index, path), ['--compile-from=flow', NO_CHECKS]);

/**
 * Writes the files of the injection into the cache folder, named by their content.
 * @param kept has the sources of the executables if the program was split
 * @returns null if the route is `substitute` and no executable can be substituted
 */
export async function injectedCommand(
  plan: Plan,
  surroundings: Surroundings,
  kept: KeptModules | null = null,
): Promise<InjectedCommand | null> {
  const { command, injection } = plan;
  const write = await textWriter(surroundings.cacheDirectory);
  const split = kept?.splitOf(flowOf(command, injection)) ?? null;
  const base = commandWithout(plan, write);
  const { route, entries = [] } = injection;
  const { argv, mapMessages } = base;
  const substitutes =
    entries.length === 0 ? null : await substituteFiles(plan, entries, base, split, surroundings, write);
  if (substitutes === null && route === 'substitute') return null;
  const whole =
    substitutes === null
      ? base
      : {
          ...base,
          argv: [...substitutes.map(substituteFlag), ...argv],
          files: [...base.files, ...substitutes.map(({ path }) => path)],
          mapMessages: (messages: string) => withoutNotes(mapMessages?.(messages) ?? messages, substitutes),
        };
  if (split === null) return { ...whole, forExecutables: whole };
  // The compiler can hang if several threads are the first to read a tuning spec: see `tuningSpecFlags`.
  const resumed = ['--mlir-disable-threading', ...resumedInjection(whole, split.path)];
  return { ...whole, forExecutables: { argv: resumed, stdin: undefined } };
}

/** Arguments of the injection that compile a file with the program at the end of `flow`. */
export function resumedInjection(
  { argv, plan: { command, inspected } }: Pick<InjectedCommand, 'argv' | 'plan'>,
  path: string,
): string[] {
  const own = rewrittenCompile(command, inspected.input).argv;
  return [...argv.slice(0, argv.length - own.length), ...resumedCompile(command, path)];
}

/** The command with the injection, without substituted executables. */
function commandWithout(
  plan: Plan,
  write: (text: string) => string,
): Omit<InjectedCommand, 'forExecutables'> {
  const { injection, command, inspected } = plan;
  const input = command.arguments.input!;
  const passes = passesOf(command);
  if (injection.route !== 'inline') {
    const { argv, stdin } = rewrittenCompile(command, inspected.input);
    const files = [...(command.rewriting?.files ?? [])];
    const keep = (text: string) => {
      files.push(write(text));
      return files.at(-1)!;
    };
    const flags = 'text' in injection ? specFlags(injection, keep, passes) : pipelineFlags(passes);
    // Our flags come first, so that the user's own flags win.
    return { plan, argv: [...flags, ...argv], files, stdin, mapMessages: null };
  }
  // Through stdin, because the output would contain the name of a copy.
  const { insertions } = injection;
  const name = inputName(command);
  return {
    ...{ plan, files: [] },
    argv: input.kind === 'stdin' ? command.argv : command.expanded.with(input.index, '-'),
    stdin: applyInsertions(inspected.input.bytes, insertions),
    mapMessages: (messages) => mapDiagnostics(messages, inspected.input.bytes, insertions, name),
  };
}

/**
 * The files that replace executables; null if there are none.
 * @param compile with the other configurations of the plan
 * @param texts of the executables of this compile; null if they are not known
 */
async function substituteFiles(
  { command, inspected, injection, identity: plan }: Plan,
  entries: readonly Entry[],
  compile: Compile,
  texts: ExecutableTexts | null,
  { env, cacheDirectory }: Surroundings,
  write: (text: Uint8Array) => string,
): Promise<readonly SubstituteFile[] | null> {
  const { compiler, arguments: args } = command;
  const { input } = args;
  // The sources and the substitutes contain the input's name.
  const name = input?.kind === 'file' ? input.path : null;
  const identity = JSON.stringify([plan, name]);
  const known = substituteMemory.recall(cacheDirectory, identity);
  if (known?.files.every(({ path }) => existsSync(path)) === true) return known.files;
  // Executables of different chunks have the same names.
  if (flagIsOn(args, 'split-input-file')) return null;
  // Not loaded on a hit.
  const { compilingWith, makeSubstitutes } = await import('../inject/substitute.ts');
  // Programs for one target, which were measured, may have other numbers.
  const isRenumbered =
    !matchesGenerated(injection.route) ||
    entries.some((one) => isOfDispatch(one) && one.target !== undefined);
  const made = await makeSubstitutes(
    compilingWith(compiler.executable, compile, { env, cacheDirectory }),
    entries,
    inspected.site.compiler.release,
    cacheDirectory,
    isRenumbered,
    texts,
  );
  if (made === null || made.length === 0) return null;
  const files = made.map(({ name, phase, text }) => ({ name, phase, path: write(text) }));
  substituteMemory.remember(cacheDirectory, { identity, files });
  return files;
}

interface SubstituteMemory {
  readonly identity: string;
  readonly files: readonly SubstituteFile[];
}

const substituteMemory = memoryOf(
  SUBSTITUTES,
  hasFields<SubstituteMemory>({
    identity: isText,
    files: listOf(
      hasFields<SubstituteFile>({
        ...{ name: isText, path: isText, phase: (value) => value === 'source' || value === 'configuration' },
      }),
    ),
  }),
);

/** Limit in surveys. A compile takes about six times as long as its survey, so this is a hundred compiles. */
const SURVEYS = 600;

/** Without a survey, the limit for each operation. Its code seldom takes the compiler a second. */
const SECONDS_PER_OPERATION = 60;

/** The smallest limit, because a short survey is a poor estimate. */
const LEAST_SECONDS = 5 * 60;

/**
 * Limit of processor time of a compile with an injection, in seconds: by the input's last survey, or else by the number of its
 * operations. A compile beyond the limit counts as endless.
 */
export function limitFor(
  { identity, operations }: Pick<Input, 'identity' | 'operations'>,
  { cacheDirectory }: Surroundings,
): number {
  const survey = surveyMemory.recall(cacheDirectory, identity);
  const seconds = survey === null ? SECONDS_PER_OPERATION * operations.length : SURVEYS * survey.seconds;
  return Math.max(LEAST_SECONDS, seconds);
}
