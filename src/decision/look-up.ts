// Looking up every operation: a record, or a reason why there is none.
import type { Configuration } from '../backend/configuration.ts';
import { backendNamed } from '../backend/index.ts';
import { tunables, type Input } from '../input/input.ts';
import { isTunable, type TunableOperation } from '../input/operation.ts';
import type { Settings } from '../settings/index.ts';
import type { Site } from '../site/site.ts';
import { chooseRecord, lacksFamily } from '../store/choose.ts';
import type { Store, TuningRecord, Undecided } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import type { TuneOutcome, Work } from '../tuning/tune-workloads.ts';
import { shareOf } from '../tuning/share.ts';
import { isUnfinished, whyUndecided } from '../tuning/undecided.ts';
import { decided, passedOver, skipped, type Decision } from './decision.ts';
import { spaceOptionsOf } from './space-options.ts';

/** Decisions of one compile, with what is still to be tuned. */
export interface Lookup {
  /** Workloads without a usable record, each once, in the order of the input. */
  readonly misses: readonly Work[];
  /** Workloads whose record comes from a search that could not choose from everything that this compile can. */
  readonly narrow: readonly Work[];
  /** Workloads that a build goes on with in their share of its budget, though there is a record that can be used: see `isUnfinished`. */
  readonly unfinished: readonly Work[];
  /** For misses whose configuration is marked by now, that one, by key. */
  readonly marked: ReadonlyMap<string, Configuration>;
  /** What is undecided of all these, by key; read when it is first asked for. */
  undecided(): ReadonlyMap<string, Undecided>;
  /** The decisions as things stand, given what was tuned, found or could not be decided since. */
  decide(results: TuneOutcome['results'], whyNot: string, undecided?: TuneOutcome['undecided']): Decision[];
}

/** Looks all operations up at once. */
export function lookUp(
  store: Store | null,
  input: Pick<Input, 'reading' | 'operations'>,
  site: Site,
  settings: Pick<Settings, 'inject' | 'budgetSeconds'>,
): Lookup {
  const each = workloadsOf(input, site, settings);
  const keys = each.map(({ key }) => key);
  const place = placeOf(site);
  const { device } = place;
  const records = store === null ? [] : store.findRecords(keys, place.target, place.compiler);
  // Whether anybody wants to tune does not matter: what is best on another device can be worse than the default here.
  const canTune = site.whyNotHere === null;
  const chosen = new Map<string, TuningRecord>();
  for (const key of keys) {
    const own = records.filter(({ workload }) => workload === key);
    const record = chooseRecord(own, device, canTune);
    if (record !== null) chosen.set(key, record);
  }
  const misses = each.filter(({ key }) => !chosen.has(key));
  const failed = records.filter(
    ({ workload, failure, device: own }) => own === device && failure !== null && !chosen.has(workload),
  );
  const marked = new Map(failed.map(({ workload, configuration }) => [workload, configuration]));
  const backend = backendNamed(place.target);
  const narrow = each.filter((one) => {
    const record = chosen.get(one.key);
    const families = backend?.familiesOf(one.workload, one.options) ?? [];
    return record !== undefined && lacksFamily(record.evidence, families);
  });
  const isNarrow = new Set(narrow);
  const within = (seconds: number) =>
    each.flatMap((one): Work[] => {
      const record = chosen.get(one.key);
      const goesOn = record !== undefined && isUnfinished(record, seconds);
      return goesOn && !isNarrow.has(one) ? [{ ...one, goesOnFrom: record }] : [];
    });
  const { budgetSeconds } = settings;
  const others = misses.length + narrow.length;
  const unfinished = within(shareOf(budgetSeconds, others + within(budgetSeconds).length));
  let rows: ReadonlyMap<string, Undecided> | null = null;
  const undecided = () => {
    const open = [...misses, ...narrow, ...unfinished].map(({ key }) => key);
    rows ??= new Map(store?.findUndecided(open, place).map((row) => [row.workload, row]));
    return rows;
  };
  return {
    misses,
    narrow,
    unfinished,
    marked,
    undecided,
    decide(results, whyNot, since) {
      return input.operations.map((operation) => {
        if (!isTunable(operation)) return skipped(operation);
        const known = results.get(operation.key);
        if (known !== undefined)
          return decided(operation, { ...known, workload: operation.key, ...place }, known.outcome, device);
        const record = chosen.get(operation.key);
        if (record !== undefined) return decided(operation, record, 'hit', device);
        const open = since?.get(operation.key) ?? undecided().get(operation.key);
        return passedOver(operation.place, operation, 'default', open ? whyUndecided(open) : whyNot);
      });
    },
  };
}

/** The workloads of an input, each once, in its order. */
export function workloadsOf(
  input: Pick<Input, 'reading' | 'operations'>,
  site: Site,
  settings: Pick<Settings, 'inject'>,
): Work[] {
  const optionsOf = spaceOptionsOf(input, site, settings);
  const byKey = new Map<string, TunableOperation[]>();
  for (const operation of tunables(input))
    byKey.set(operation.key, [...(byKey.get(operation.key) ?? []), operation]);
  return [...byKey.values()].map((operations) => {
    const { key, workload } = operations[0]!;
    return { key, workload, count: operations.length, options: optionsOf({ key }) };
  });
}
