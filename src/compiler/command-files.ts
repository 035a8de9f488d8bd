// The files that a compile depends on, besides its input: the compiler, its linker, and files that flags name.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isUnchanged, namesIn, stampsOf, type Stamps } from '../system/files.ts';
import { resultOr } from '../system/result-or.ts';
import { flagIsOn, lastValue, type CompilerArguments, type Flag } from './arguments.ts';
import { roleOf } from './flag-roles.ts';
import { compilerFiles, LINKER_VARIABLES, linkerOf } from './identity.ts';
import type { Environment } from '../system/recursion.ts';

/** States of files, before the compiler ran. */
export interface CommandFiles {
  /** The values of `LINKER_VARIABLES`. */
  readonly variables: readonly (string | null)[];
  readonly ofCompiler: Stamps;
  readonly ofFlags: Stamps;
}

export const linkerVariables = (env: Environment): CommandFiles['variables'] =>
  LINKER_VARIABLES.map((name) => env[name] ?? null);

/** States of the compiler's files, and of its linkers. */
export function stampsOfCompiler(executable: string, env: Environment): Stamps {
  const named = linkerVariables(env).filter((path) => path !== null);
  const linker = linkerOf(executable, env);
  return stampsOf([...compilerFiles(executable), ...named, ...(linker === null ? [] : [linker.path])]);
}

/** Flags with a folder whose files the compiler reads. */
const FOLDER = /^iree-(?:hip|rocm)-bc-dir$/;

/** States of the files that flags name, such as parameters. */
export const stampsOfFlags = (flags: readonly Flag[]): Stamps => stampsOf(flags.flatMap(filesOf));

/** Bytes of these files together. */
export const bytesOfFlags = (flags: readonly Flag[]): number =>
  [...new Set(flags.flatMap(filesOf))].reduce((sum, path) => sum + resultOr(() => statSync(path).size, 0), 0);

function filesOf(flag: Flag): string[] {
  const { name, value } = flag;
  if (value === null || name === 'o' || ['writing', 'reporting'].includes(roleOf(flag))) return [];
  if (FOLDER.test(name)) return [value, ...namesIn(value).map((file) => join(value, file))];
  // A file may have a scope (`SCOPE=PATH`), or be an option of a pass.
  const parts = [value, value.slice(value.lastIndexOf('=') + 1), ...value.split(/[\s={}(),]+/)];
  // Most values are no paths.
  return [...new Set(parts)].filter((path) => resultOr(() => statSync(path).isFile(), false));
}

/** Whether the files are as they were: else the compile may belong to others. */
export const isAsBefore = ({ ofCompiler, ofFlags }: CommandFiles): boolean =>
  isUnchanged([...ofCompiler, ...ofFlags]);

/** Whether a compile runs tools of the system, such as its linker, whose own files are not known. */
export const runsSystemTools = (args: CompilerArguments): boolean =>
  !flagIsOn(args, 'iree-llvmcpu-link-embedded', true) ||
  flagIsOn(args, 'iree-cuda-use-ptxas') ||
  /^wasm/.test(lastValue(args, 'iree-llvmcpu-target-triple') ?? '') ||
  args.flags.some(({ name, value }) => name.startsWith('iree-hal-target-') && /\bmetal\b/.test(value ?? ''));
