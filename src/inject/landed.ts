// Finds the injected configurations in the compiler's executables.
import { isDefault } from '../backend/configuration.ts';
import { configuredOperations, wholeDispatch, type ConfiguredOperation } from '../backend/dumps.ts';
import { backendOf } from '../backend/index.ts';
import type { Decision } from '../decision/decision.ts';
import { isOperationWork, matchKey } from '../workload/workload.ts';
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
  const configured = texts.flatMap(configuredOperations);
  const spelled = texts.map((text) => Buffer.from(text).toString());
  const expected = new Set(decisions.flatMap(({ tunable }) => (tunable === null ? [] : [matchKey(tunable)])));
  return decisions.map(({ tunable, configuration }) => {
    if (tunable === null || configuration === null || isDefault(configuration)) return null;
    const backend = backendOf(configuration);
    const { workload, loops } = tunable;
    if (!isOperationWork(workload))
      // The text does not change if it has the configuration already.
      return texts
        .filter((_, i) => backend.reconfigured?.(spelled[i]!, workload, configuration) === spelled[i])
        .map(wholeDispatch);
    const injected = injectedLoops(route, tunable);
    return backend.landedOn(configured, { workload, loops }, configuration, injected, expected);
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
