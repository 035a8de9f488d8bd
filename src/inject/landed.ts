// The proof that configurations landed: the compiler prints the configuration of each dispatch.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configuredOperations, wholeDispatch, type ConfiguredOperation } from '../backend/dumps.ts';
import { backendOf } from '../backend/index.ts';
import { compileAside, type AsideOptions } from '../compiler/ask.ts';
import { withTrailingFlags, type Compile } from '../compiler/command.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { ELIDED } from '../input/survey.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { hasRoot, matchKey } from '../workload/workload.ts';
import { isFor, variantsOf } from './executable-sources.ts';
import { injectedLoops, type Injection } from './plan.ts';

/** For each decision, its operations that have its configuration; null for a decision without an injection. */
type Landing = readonly (readonly ConfiguredOperation[] | null)[];

/**
 * The operations on which configurations landed. Pure.
 * @param texts the configured executables
 */
export function landedOn(
  texts: readonly Uint8Array[],
  decisions: readonly Decision[],
  route: Injection['route'],
): Landing {
  const variants = texts.flatMap(variantsOf).map((variant) => ({
    ...variant,
    configured: configuredOperations(variant.text),
    spelled: Buffer.from(variant.text).toString(),
  }));
  const expected = new Set(decisions.flatMap(({ tunable }) => (tunable === null ? [] : [matchKey(tunable)])));
  return decisions.map((decision) => {
    if (!isInjected(decision)) return null;
    const { tunable, configuration } = decision;
    const { rendering } = backendOf(configuration);
    const own = variants.filter((variant) => isFor(decision, variant));
    const { workload, loops } = tunable;
    if (!hasRoot(workload))
      // The text does not change if it has the configuration already.
      return own
        .filter(({ spelled }) => rendering.reconfigured?.(spelled, workload, configuration) === spelled)
        .map(({ text }) => wholeDispatch(text));
    const injected = injectedLoops(route, tunable);
    const configured = own.flatMap((variant) => variant.configured);
    return rendering.landedOn(configured, { workload, loops }, configuration, injected, expected);
  });
}

/** For each decision, whether its configuration landed; null for a decision without an injection. */
export const whatLanded = (landing: Landing): (boolean | null)[] =>
  landing.map((operations) => operations && operations.length > 0);

/** For each workload with a configuration, by key, the names of the dispatches in which the configuration landed. */
export function dispatchesOf(
  landing: Landing,
  decisions: readonly Decision[],
): Map<string, readonly string[]> {
  const names = new Map<string, readonly string[]>();
  for (const [i, operations] of landing.entries()) {
    const { tunable } = decisions[i]!;
    if (operations === null || tunable === null) continue;
    const own = operations.flatMap(({ dispatch }) => dispatch ?? []);
    names.set(tunable.key, [...new Set([...(names.get(tunable.key) ?? []), ...own])]);
  }
  return names;
}

/**
 * Compiles up to the configured executables, and looks for each configuration in them.
 * @returns for each decision, whether its configuration landed; null for a decision without an injection. Null if the compile fails, or no
 *   folder can be created
 */
export async function proveLanded(
  { plan: { command, decisions, injection }, forExecutables }: Provable,
  asking: AsideOptions,
): Promise<(boolean | null)[] | null> {
  const texts = await configurationsOf(command.compiler.executable, forExecutables, asking);
  return texts && whatLanded(landedOn(texts, decisions, injection.route));
}

/** A plan, and a compile that shows its configured executables. */
interface Provable {
  readonly plan: {
    readonly command: { readonly compiler: { readonly executable: string } };
    readonly decisions: readonly Decision[];
    readonly injection: Pick<Injection, 'route'>;
  };
  readonly forExecutables: Compile;
}

/** The configured executables, one text each; null if the compile fails, or no folder can be created. */
export async function configurationsOf(
  executable: string,
  { argv, stdin }: Compile,
  asking: AsideOptions,
): Promise<Uint8Array[] | null> {
  try {
    return await withScratchFolder(asking.cacheDirectory, 'proof', async (folder) => {
      // The output has the substituted executables; the compiler's dumps do not.
      const output = join(folder, 'module.out');
      const flags = ['--compile-to=executable-configurations', ...ELIDED, '-o', output];
      const result = await compileAside(executable, withTrailingFlags(argv, flags), { ...asking, stdin });
      return result.code === 0 ? executablesIn(readFileSync(output, 'latin1')) : null;
    });
  } catch {
    // A proof that fails must not fail the build.
    return null;
  }
}

/** The executables of a printed program, one text each. */
const executablesIn = (program: string): Uint8Array[] =>
  [...program.matchAll(/^ {2}hal\.executable [^]*?^ {2}\}$/gm)].map(([text]) => Buffer.from(text, 'latin1'));
