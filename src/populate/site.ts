// One site of a run: compiler flags, and their target, device and compiler.
import { backendNamed } from '../backend/index.ts';
import { importOnnx, isOnnx } from '../compiler/import-onnx.ts';
import { findCompiler, type FoundCompiler } from '../compiler/find.ts';
import { readCommand, type Command } from '../compiler/command.ts';
import { whyUnknown } from '../compiler/untouched.ts';
import type { Input } from '../input/input.ts';
import { readingOf } from '../input/input.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { describeSite, noTuner, type Site } from '../site/site.ts';
import { isReason } from '../system/reason.ts';
import { UserError } from '../system/user-error.ts';
import { inspect } from '../wrapper/inspect.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { withSurvey } from '../input/operations.ts';

export interface PopulationSite {
  /** The user's flags as text. */
  readonly name: string;
  readonly flags: readonly string[];
  readonly command: Command;
  readonly reading: Input['reading'];
  readonly site: Site;
}

/**
 * The site of a build with these flags.
 * @throws UserError when the compiler reports no target, or a flag may write a file
 */
export async function siteOf(
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<{ command: Command; site: Site }> {
  const command = await readCommand(['-', ...flags], compilerOf(surroundings), surroundings);
  const unknown = whyUnknown(command.arguments);
  if (unknown !== null) throw new UserError(`${flags.join(' ')}: ${unknown.reason}`);
  const site = await describeSite(command, surroundings);
  if (isReason(site)) throw new UserError(`${flags.join(' ')}: ${site.reason}`);
  return { command, site };
}

/**
 * The site of compiler flags, for shapes and models.
 * @param flags with a target
 * @throws UserError if builds with these flags are not tuned
 */
export async function populationSite(
  flags: readonly string[],
  name: string,
  surroundings: Surroundings,
): Promise<PopulationSite> {
  const { command, site } = await siteOf(flags, surroundings);
  const why =
    command.whyUntouched ?? (backendNamed(site.target.key) === undefined ? noTuner(site.target) : null);
  if (why !== null) throw new UserError(`${name}: nothing is tuned with these flags: ${why.reason}`);
  return { name, flags, command, reading: readingOf(command.arguments), site };
}

/**
 * Inspects a file in its written form.
 * @returns the reason as text if builds pass the input through or the import fails
 */
export async function programAt(
  path: string,
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<FormedProgram | string> {
  const command = await commandFor(path, flags, surroundings).catch((error: unknown) => {
    if (error instanceof UserError) return error.message.replace(`${path}: `, '');
    throw error;
  });
  if (typeof command === 'string') return command;
  const found = await inspect(command, surroundings);
  return isReason(found) ? found.reason : withSurvey(found, surroundings);
}

/** @throws CompilerNotFoundError */
export const compilerOf = ({ env, settings, root, cacheDirectory }: Surroundings): FoundCompiler =>
  findCompiler(env, { compiler: settings.compiler, root, cacheDirectory });

/** The command that compiles a file. Imports an ONNX model first. */
export async function commandFor(
  path: string,
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<Command> {
  const compiler = compilerOf(surroundings);
  const input = isOnnx(path) ? await importOnnx(path, compiler, surroundings) : path;
  return readCommand([input, ...flags], compiler, surroundings);
}
