// The schema of a backend's configurations: their JSON, its checks, and a text for people.
import { hasKeys, isIntegerWithin, isObject, type Check } from '../system/data.ts';
import type { Configuration } from './configuration.ts';

/** The largest tile of a valid configuration. */
export const LARGEST_TILE = 2 ** 20;

/**
 * A check of a field.
 * @param rank number of the workload's dimensions; undefined if unknown
 */
type FieldCheck = (value: unknown, rank: number | undefined) => boolean;

/** The configurations of a backend. All have the fields `version`, which is 1, and `kind`. */
export interface Schema {
  /** The other fields of each kind. */
  readonly kinds: Readonly<
    Partial<
      Record<
        Configuration['kind'],
        { readonly required: readonly string[]; readonly optional?: readonly string[] }
      >
    >
  >;
  /** The checks of all fields, in the order of the stored JSON. Equal configurations give equal text. */
  readonly checks: Readonly<Record<string, FieldCheck>>;
  /** The name of each field in a text for people, in the order of the text. */
  readonly labels: Readonly<Record<string, string>>;
  /** A rule about several fields. Absent for none. */
  readonly isConsistent?: (configuration: Configuration) => boolean;
}

export const DEFAULT_SCHEMA: Schema = { kinds: { default: { required: [] } }, checks: {}, labels: {} };

/** Whether a value is one tile for each dimension of the workload. */
export const isLevel = (value: unknown, rank: number | undefined): boolean =>
  Array.isArray(value) &&
  value.length === rank &&
  value.length > 0 &&
  value.every((tile) => isIntegerWithin(tile, 0, LARGEST_TILE));

export const isWithin =
  (low: number, high: number): Check =>
  (value) =>
    isIntegerWithin(value, low, high);

/**
 * Whether a value of one of the backend's kinds is a configuration. All fields are checked.
 * @param rank number of the workload's dimensions, if known; every level must have that many tiles
 */
export function isOfSchema({ kinds, checks, isConsistent }: Schema, value: object, rank?: number): boolean {
  if (!isObject(value)) return false;
  const { version, kind, ...fields } = value;
  const { required, optional } = kinds[kind as Configuration['kind']]!;
  const length = rank ?? Object.values(fields).find((field) => Array.isArray(field))?.length;
  return (
    version === 1 &&
    hasKeys(fields, required, optional) &&
    Object.entries(fields).every(([name, field]) => checks[name]!(field, length)) &&
    isConsistent?.(value as unknown as Configuration) !== false
  );
}

/** A short text for people. Equal configurations give equal text. */
export function textOfSchema({ labels }: Schema, configuration: Configuration): string {
  const inner = Object.values(configuration).find(isObject);
  const fields: Readonly<Record<string, unknown>> = { ...configuration, ...inner };
  const texts = Object.entries(labels).map(([name, label]) => {
    const field = fields[name];
    if (field === undefined || field === false) return '';
    return field === true ? ` ${label}` : ` ${label}=${(field as string | number | number[]).toString()}`;
  });
  return configuration.kind + texts.join('');
}
