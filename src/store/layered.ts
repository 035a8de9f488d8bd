// Several databases as one: the own database, which receives all writes, above read-only ones.
import { configurationText } from '../backend/index.ts';
import { candidateOf, decisionAmong } from './choose.ts';
import { compare, isRevoked } from './claim.ts';
import type { Store, TuningRecord } from './store.ts';
import { keysOf } from './subject.ts';

/** A database, and its base in words; null for the own database. */
export interface Layer {
  readonly store: Store;
  readonly base: string | null;
}

/**
 * Reads follow the rules of one merged database: the surest claim of a subject wins, and marks and revocations count in all layers. If they forbid the
 * winner of a layer, its other claims do not take the winner's place. A record names the base that it comes from. Starting points of searches
 * come from the first database only.
 * @param named the own database first
 */
export function layered(named: readonly [Layer, ...Layer[]]): Store {
  const [{ store: own, base: ownBase }, ...others] = named;
  if (others.length === 0 && ownBase === null) return own;
  const layers = named.map(({ store }) => store);
  /** Records of all layers, one for each subject. */
  const joined = (recordsOf: (layer: Store) => TuningRecord[]): TuningRecord[] => {
    const found = named.flatMap(({ store: layer, base }) =>
      recordsOf(layer)
        .flatMap(bothSorts)
        .map((record) => ({ layer, record: base === null ? record : { ...record, base } })),
    );
    const revocations = found.length === 0 ? [] : layers.flatMap((layer) => layer.revocations());
    const live = found.filter(({ record }) => !isRevoked(record, revocations));
    const subjects = Map.groupBy(live, ({ record }) => JSON.stringify(keysOf(record)));
    return [...subjects.values()].flatMap((all) => {
      const marked = all.map(({ layer, record }) => candidateOf(withMarksOf(layers, layer, record)));
      return decisionAmong(marked) ?? [];
    });
  };
  return {
    ...own,
    findRecords: (workloads, target, compiler) =>
      joined((layer) => layer.findRecords(workloads, target, compiler)),
    allRecords: () => joined((layer) => layer.allRecords()).sort((a, b) => compare(b.createdAt, a.createdAt)),
    marks: (key) => layers.flatMap((layer) => layer.marks(key)),
    revocations: () => layers.flatMap((layer) => layer.revocations()),
    ownRevocation: () => first(layers, (layer) => layer.ownRevocation()),
    trials: (key) => layers.flatMap((layer) => layer.trials(key)),
    hasProgramNotes: (kinds) => layers.some((layer) => layer.hasProgramNotes(kinds)),
    programNotes: (kind, program) => layers.flatMap((layer) => layer.programNotes(kind, program)),
    allProgramNotes: (kind) => layers.flatMap((layer) => layer.allProgramNotes(kind)),
    subject: (key) => first(layers, (layer) => layer.subject(key)) ?? undefined,
    devices: () => {
      const byKey = Map.groupBy(
        layers.flatMap((layer) => layer.devices()),
        ({ key }) => key,
      );
      return [...byKey.values()].map(([one]) => one!).sort((a, b) => compare(a.key, b.key));
    },
    close: () => {
      for (const layer of layers) layer.close();
    },
  };
}

/** A record and its alternative, each alone. */
const bothSorts = ({ alternative, ...record }: TuningRecord): TuningRecord[] =>
  alternative === undefined ? [record] : [record, alternative];

/** The record with a mark of another layer. */
function withMarksOf(layers: readonly Store[], layer: Store, record: TuningRecord): TuningRecord {
  if (record.failure !== null || record.configuration.kind === 'default') return record;
  const text = configurationText(record.configuration);
  const mark = layers
    .filter((other) => other !== layer)
    .flatMap((other) => other.marks(record))
    .find(({ configuration }) => configurationText(configuration) === text);
  return mark === undefined ? record : { ...record, failure: `${mark.kind}: ${mark.reason}` };
}

function first<T>(layers: readonly Store[], of: (layer: Store) => T | null | undefined): T | null {
  for (const layer of layers) {
    const found = of(layer);
    if (found !== null && found !== undefined) return found;
  }
  return null;
}
