// Looks every operation up: a record, or the reason for none.
import { backendNamed } from '../backend/index.ts';
import { tunables, type Input } from '../input/input.ts';
import { isTunable } from '../input/operation.ts';
import type { Settings } from '../settings/index.ts';
import type { Site } from '../site/site.ts';
import { isDefault, type Configuration } from '../backend/configuration.ts';
import { versionKey } from '../compiler/describe.ts';
import { lacksFamily } from '../store/choose.ts';
import type { Store, TuningRecord, Undecided } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import type { TuneOutcome, Work } from '../tuning/tune-workloads.ts';
import { shareOf } from '../tuning/schedule.ts';
import { isUnfinished, whyUndecided } from '../tuning/undecided.ts';
import { decided, passedOver, skipped, type Decision, type Override } from './decision.ts';
import { bestOfEach, isKnownThere, recordsOfClass, recordsOfCompilers } from './same-class.ts';
import { spaceOptionsOf } from './space-options.ts';
import { because, type Reason } from '../system/reason.ts';

/** Decisions of one compile, and the workloads to tune. */
export interface Lookup {
  /** All workloads that were looked up, each once, in the order of the input. */
  readonly works: readonly Work[];
  /** Workloads without a usable record of this device, in the order of the input. Some have one of its class or of another compiler. */
  readonly misses: readonly Work[];
  /** Workloads whose search had fewer families of configurations than this compile has. */
  readonly narrow: readonly Work[];
  /** Workloads with a usable record whose search goes on in their share of the budget: see `isUnfinished`. */
  readonly unfinished: readonly Work[];
  /** By key, the reasons for workloads that the backend does not tune. */
  readonly unsupported: ReadonlyMap<string, Reason>;
  /** By key, the marked configurations of misses. */
  readonly marked: ReadonlyMap<string, Configuration>;
  /** Undecided searches of these workloads, by key. Read from the database once, on demand. */
  undecided(): ReadonlyMap<string, Undecided>;
  /** The decisions, with the results of tuning since the lookup. */
  decide(results: TuneOutcome['results'], whyNot?: Reason, undecided?: TuneOutcome['undecided']): Decision[];
}

/** The workloads to search. A search of some configurations only takes workloads without a record. */
export const toSearch = (
  { misses, narrow }: Pick<Lookup, 'misses' | 'narrow'>,
  isRestricted: boolean,
): readonly Work[] => (isRestricted ? misses : [...misses, ...narrow]);

/**
 * Looks all operations up at once.
 * @param override decides before the lookup
 */
export function lookUp(
  store: Store | null,
  input: Pick<Input, 'reading' | 'operations'>,
  site: Site,
  settings: Pick<Settings, 'inject' | 'budgetSeconds' | 'trust'>,
  override: Override = () => null,
): Lookup {
  const open = new Set(tunables(input).flatMap((one) => (override(one) === null ? [one.key] : [])));
  const each = workloadsOf(input, site, settings).filter(({ key }) => open.has(key));
  const keys = each.map(({ key }) => key);
  const place = placeOf(site);
  const { device } = place;
  const records = store === null ? [] : store.findRecords(keys, place.target, place.compiler);
  // The best configuration of another device can be slower than the default here, even if nothing is tuned. A record of any device is
  // used only if nothing can be measured for the target, and no setting names the device.
  const anyDevice = site.whyNotHere !== null && site.forDevice === null;
  const chosen = bestOfEach(records, device, !anyDevice);
  const lacking = keys.filter((key) => !chosen.has(key));
  // A hit does not ask for them.
  const ofOthers =
    store === null || lacking.length === 0
      ? []
      : store.findOfOtherCompilers(lacking, place.target, place.compiler);
  const ofBuilds = ofOthers.filter(({ compiler }) => versionKey(compiler) === versionKey(place.compiler));
  if (anyDevice) for (const [key, record] of bestOfEach(ofBuilds, device)) chosen.set(key, record);
  const backend = backendNamed(place.target);
  const unsupported = new Map<string, Reason>();
  const missing = each.filter(({ key, workload }) => {
    if (chosen.has(key)) return false;
    const what = backend?.tuning(workload).unsupported ?? null;
    if (what !== null)
      unsupported.set(key, because('workload-unsupported', `${backend!.name} does not tune ${what}`));
    return what === null;
  });
  const isAsked = store !== null && missing.length > 0;
  const ofClass = isAsked ? recordsOfClass(records, site, store) : NOTHING;
  const buildsHere = isAsked ? recordsOfCompilers(ofBuilds, site, store) : NOTHING;
  const gains = ofOthers.filter(({ configuration }) => !isDefault(configuration));
  const ofCompilers = isAsked ? recordsOfCompilers(gains, site, store) : NOTHING;
  const misses = missing.map((one): Work => {
    const alike = [ofClass, buildsHere, ofCompilers]
      .map((records) => records.get(one.key))
      .find((record) => record !== undefined && !isDefault(record.configuration));
    return alike === undefined ? one : { ...one, alike };
  });
  /** A record of another device of the class, or of another build of the compiler, that is used unmeasured. */
  const trusted = (key: string): TuningRecord | null => {
    const record = ofClass.get(key) ?? buildsHere.get(key);
    if (record === undefined || store === null || chosen.has(key)) return null;
    const isTrusted = site.forDevice !== null || settings.trust === 'class';
    return isTrusted && !isKnownThere(record, { workload: key, ...place }, store) ? record : null;
  };
  const buildOf = ({ compiler }: TuningRecord) =>
    compiler === place.compiler ? '' : ', with another build of this compiler';
  const failed = records.filter(
    ({ workload, failure, device: own }) => own === device && failure !== null && !chosen.has(workload),
  );
  const marked = new Map(failed.map(({ workload, configuration }) => [workload, configuration]));
  const narrow = each.filter((one) => {
    const record = chosen.get(one.key);
    const families = backend?.tuning(one.workload).families(one.options) ?? [];
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
    const keys = [...misses, ...narrow, ...unfinished].map(({ key }) => key);
    rows ??= new Map(store?.findUndecided(keys, place).map((row) => [row.workload, row]));
    return rows;
  };
  const byKey = new Map(misses.map((one) => [one.key, one]));
  return {
    works: each.map((one) => byKey.get(one.key) ?? one),
    misses,
    narrow,
    unfinished,
    unsupported,
    marked,
    undecided,
    decide(results, whyNot = because('no-record'), since) {
      return input.operations.map((operation) => {
        if (!isTunable(operation)) return skipped(operation);
        if (!open.has(operation.key)) return override(operation)!;
        const known = results.get(operation.key);
        if (known !== undefined)
          return decided(operation, { ...known, workload: operation.key, ...place }, known.outcome, device);
        const record = chosen.get(operation.key);
        if (record !== undefined) return decided(operation, record, 'hit', device, buildOf(record));
        const untuned = unsupported.get(operation.key);
        if (untuned !== undefined) return passedOver(operation, 'skipped', untuned);
        const alike = trusted(operation.key);
        if (alike !== null) {
          const relation = alike.device === device ? '' : ', a device of the same class';
          return decided(operation, alike, 'hit', device, relation + buildOf(alike));
        }
        const tried = since?.get(operation.key) ?? undecided().get(operation.key);
        return passedOver(operation, 'default', tried ? because('undecided', whyUndecided(tried)) : whyNot);
      });
    },
  };
}

const NOTHING: ReadonlyMap<string, TuningRecord> = new Map();

/** The workloads of an input, each once, in its order. */
export function workloadsOf(
  input: Pick<Input, 'reading' | 'operations'>,
  site: Site,
  settings: Pick<Settings, 'inject'>,
): Work[] {
  const optionsOf = spaceOptionsOf(input, site, settings);
  return [...Map.groupBy(tunables(input), ({ key }) => key).values()].map((operations) => {
    const { key, workload } = operations[0]!;
    const executables = [...new Set(operations.flatMap((one) => one.executables ?? []))];
    return { key, workload, count: operations.length, options: optionsOf({ key }), executables };
  });
}
