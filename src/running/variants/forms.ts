// Forms as a variant of the command: the operations of a program in their preferred forms.
import { basename } from 'node:path';
import { backendNamed } from '../../backend/index.ts';
import type { Command } from '../../compiler/command.ts';
import { chooseForms, choicesOf, namesOf, type FormChoice, type FormNames } from '../../form/choose.ts';
import type { Packings } from '../../form/packing.ts';
import { rewritableKey } from '../../form/rewritable.ts';
import { slowerForms } from '../../form/slower.ts';
import { mayHaveForms } from '../../input/input.ts';
import { SIZED } from '../../input/specialised.ts';
import { isDispatchOf, isTunable } from '../../input/operation.ts';
import type { FormedProgram } from '../../plan/inspected.ts';
import { textWriter } from '../../plan/write-once.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { rewritingPasses } from '../../spec/pipeline.ts';
import { compare } from '../../store/claim.ts';
import { because } from '../../system/reason.ts';
import type { CommandVariant } from './variant.ts';

/** The preferred form of each operation of a program that has one. */
export function preferredForms(program: FormedProgram, surroundings: Surroundings): CommandVariant {
  const { input } = program.inspected;
  const preferred = mayHaveForms(input.reading, surroundings.settings)
    ? chooseForms(input.rewritables, packingsOf(program))
    : [];
  return formsVariant(program, preferred, surroundings);
}

/** The packings of products for a program's target and compiler. */
export function packingsOf({ inspected }: Pick<FormedProgram, 'inspected'>): Packings | null {
  const { target, compiler } = inspected.site;
  return backendNamed(target.key)?.packings?.(target.target, compiler.release) ?? null;
}

/** The named forms; null if this version does not know one of them. */
export function namedForms(
  program: FormedProgram,
  names: FormNames,
  surroundings: Surroundings,
): CommandVariant | null {
  const choices = choicesOf(program.inspected.input.rewritables, names, packingsOf(program));
  return choices.length < names.size ? null : formsVariant(program, choices, surroundings);
}

function formsVariant(
  { command }: FormedProgram,
  all: readonly FormChoice[],
  surroundings: Surroundings,
): CommandVariant {
  const chosen = (keys: readonly string[]) =>
    all.filter(({ operation }) => keys.includes(rewritableKey(operation)));
  return {
    parts: namesOf(all),
    base: [],
    commandWith: (keys) => rewritten(command, chosen(keys), surroundings),
    // Not loaded on a hit.
    wrongAmong: async (program, keys, isRefused) =>
      (await import('./check-forms.ts')).wrongForms(program, chosen(keys), isRefused),
    blamedFor({ problem, messages = problem }, keys) {
      const errors = messages.split('\n').filter((line) => line.includes(' error: '));
      const blamed = keys.filter((key) => errors.some((error) => isAt(key, error)));
      return new Map(blamed.map((key) => [key, because('compile-failed', problem)]));
    },
    slower({ inspected }, keys, { stockSeconds, dispatchSeconds }, isTuned) {
      const operations = inspected.input.operations.filter(isTunable);
      const isOf = (key: string, dispatch: string) =>
        operations.some((one) => isAt(key, one.place.location ?? '') && isDispatchOf(one, dispatch));
      return slowerForms(chosen(keys), stockSeconds, dispatchSeconds, isOf, isTuned);
    },
  };
}

/** Whether a location is that of an operation in its form: these begin with the key of the written operation. */
const isAt = (key: string, location: string): boolean => location.startsWith(`${key} as `);

/** The command with its operations in these forms. */
export async function rewritten(
  command: Command,
  choices: readonly FormChoice[],
  { cacheDirectory }: Surroundings,
): Promise<Command> {
  // Loaded only for programs with convolutions or attentions.
  const { formsSpec, REWRITE } = await import('../../form/spec.ts');
  // The order of the program's operations means nothing.
  const sorted = choices.toSorted((a, b) => compare(rewritableKey(a.operation), rewritableKey(b.operation)));
  const write = await textWriter(cacheDirectory);
  const path = write(formsSpec(sorted, command.rewriting?.input === undefined ? undefined : SIZED));
  const before = command.rewriting;
  const rewriting = {
    ...before,
    isFormed: true,
    // The file's name is a digest of its content, so leave out its folder.
    names: [...(before?.names ?? []), basename(path)],
    passes: [...(before?.passes ?? []), rewritingPasses(path, REWRITE)],
    files: [...(before?.files ?? []), path],
  };
  return { ...command, rewriting };
}
