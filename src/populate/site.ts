// One site of a run: compiler flags, and their target, device and compiler.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importOnnx, isOnnx } from '../compiler/import-onnx.ts';
import { findCompiler } from '../compiler/find.ts';
import { readCommand, type Command } from '../compiler/command.ts';
import type { Input } from '../input/input.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import { isReason } from '../system/reason.ts';
import { UserError } from '../system/user-error.ts';
import { inspect, withSurvey } from '../wrapper/inspect.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { shapeModule } from './shape-module.ts';
import { elementTypesOf, type Shape } from './shape.ts';

export interface PopulationSite {
  /** The user's flags as text. */
  readonly name: string;
  readonly flags: readonly string[];
  readonly reading: Input['reading'];
  readonly site: Site;
}

/** A shape that every target can compile. */
const PROBE: Shape = {
  ...{ op: 'matmul', batch: 1, m: 64, n: 64, k: 64 },
  ...elementTypesOf({ lhs: 'f32' }),
  ...{ rhsConstant: false, count: 1 },
};

/**
 * The site of compiler flags.
 * @param flags with a target
 * @param folder for a probe module
 * @throws UserError if builds with these flags are not tuned
 */
export async function populationSite(
  flags: readonly string[],
  name: string,
  folder: string,
  surroundings: Surroundings,
): Promise<PopulationSite> {
  const path = join(folder, 'probe.mlir');
  writeFileSync(path, shapeModule([PROBE]));
  const command = await commandFor(path, flags, surroundings);
  const found = await inspect(command, surroundings);
  if (isReason(found)) throw new UserError(`${name}: nothing is tuned with these flags: ${found.reason}`);
  const { input, site } = found.inspected;
  return { name, flags, reading: input.reading, site };
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

/** The command that compiles a file. Imports an ONNX model first. */
export async function commandFor(
  path: string,
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<Command> {
  const { env, settings, root, cacheDirectory } = surroundings;
  const compiler = findCompiler(env, { compiler: settings.compiler, root, cacheDirectory });
  const input = isOnnx(path) ? await importOnnx(path, compiler, surroundings) : path;
  return readCommand([input, ...flags], compiler, surroundings);
}
