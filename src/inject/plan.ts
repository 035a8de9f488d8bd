// From decisions to an injection: how they reach the compiler.
import { insertionFor, type Insertion } from 'mlir-parser-ts';
import type { Decision } from '../decision/decision.ts';
import { isBefore, type Release } from '../space/render.ts';
import { ownConfiguration } from '../workload/from-operation.ts';
import { injectedAttribute } from './attribute.ts';
import { matchKey, tuningSpec, type SpecEntry } from './spec.ts';

export type Injection =
  | { readonly route: 'none'; readonly reason: string }
  | { readonly route: 'spec'; readonly text: string }
  | { readonly route: 'inline'; readonly insertions: readonly Insertion[] };

export interface InjectionOptions {
  readonly wanted: 'auto' | 'spec' | 'inline';
  readonly release: Release;
  /** The user compiles with data tiling: a spec's matchers would also hit the encoded matmuls, and the compile fails. */
  readonly dataTiling: boolean;
}

/** Chooses the route and renders it. Pure. */
export function planInjection(decisions: readonly Decision[], options: InjectionOptions): Injection {
  const injected = decisions.filter(
    (decision) => decision.configuration !== null && decision.configuration.kind !== 'default',
  );
  if (injected.length === 0)
    return { route: 'none', reason: 'no operation has a configuration better than the default' };
  const whyNotSpec = specProblem(decisions, options);
  const route = options.wanted === 'auto' ? (whyNotSpec === null ? 'spec' : 'inline') : options.wanted;
  if (route === 'spec') {
    if (whyNotSpec !== null) return { route: 'none', reason: whyNotSpec };
    const text = tuningSpec(injected.map(specEntry), options.release);
    return text === null
      ? { route: 'none', reason: 'nothing that a tuning spec can express' }
      : { route, text };
  }
  const insertions = injected.map(({ operation, tunable, configuration }) =>
    insertionFor(operation, injectedAttribute(configuration!, tunable!.loops, options.release)!),
  );
  return { route, insertions: insertions.sort((a, b) => a.offset - b.offset) };
}

const specEntry = ({ tunable, configuration }: Decision): SpecEntry => ({
  workload: tunable!.workload,
  loops: tunable!.loops,
  configuration: configuration!,
});

function specProblem(decisions: readonly Decision[], options: InjectionOptions): string | null {
  if (isBefore(options.release, 3, 11)) return 'tuning specs need IREE 3.11';
  if (options.dataTiling) return 'a tuning spec and data tiling together break the compile';
  // A matcher would also hit an operation that the user has configured, and overwrite it.
  if (decisions.some(({ operation }) => ownConfiguration(operation) !== null))
    return 'the input has operations with configurations of their own';
  const matched = new Map<string, string>();
  for (const { tunable, configuration } of decisions) {
    if (tunable === null) continue;
    if (configuration?.kind === 'data-tile')
      return 'data tiling is asked for by an attribute on the operation';
    // A matcher cannot tell operations of the same form apart, so all of them must want the same.
    const key = matchKey(tunable);
    const wanted = JSON.stringify(configuration?.kind === 'default' ? null : (configuration ?? null));
    if ((matched.get(key) ?? wanted) !== wanted)
      return 'operations of the same form want different configurations';
    matched.set(key, wanted);
  }
  return null;
}
