// The schema of a backend's configurations: their JSON, its checks, and a text for people.
import { hasKeys, isIntegerWithin, isObject } from '../system/data.ts';
import type { Workload } from '../workload/workload.ts';
import type { Configuration } from './configuration.ts';

/** The largest tile of a valid configuration. */
export const LARGEST_TILE = 2 ** 20;

/** A knob in the stored JSON and in a text for people. */
export interface SchemaField {
  /** @param rank number of the workload's dimensions; undefined if unknown */
  readonly check: (value: unknown, rank: number | undefined) => boolean;
  /** The name in a text for people; absent for a field that only groups other fields. */
  readonly label?: string;
}

/** The fields of one kind of configurations, beside `version`, which is 1, and `kind`. */
interface KindFields {
  readonly required: readonly string[];
  readonly optional?: readonly string[];
}

type ValueOf<Field> = Field extends { readonly check: (...of: never) => unknown }
  ? Field['check'] extends (value: unknown, rank: undefined) => value is infer Value
    ? Value
    : never
  : never;

/** The types of configurations by their kind. */
export type ConfigurationsOf<Kinds extends Readonly<Record<string, KindFields>>, Fields> = {
  readonly [Kind in keyof Kinds]: ConfigurationOf<Kind, Kinds[Kind], Fields>;
};

/** Each field has the type that its check guards. */
type ConfigurationOf<Kind, Own extends KindFields, Fields> = {
  readonly version: 1;
  readonly kind: Kind;
} & { readonly [Name in Own['required'][number] & keyof Fields]: ValueOf<Fields[Name]> } & {
  readonly [Name in NonNullable<Own['optional']>[number] & keyof Fields]?: ValueOf<Fields[Name]>;
};

/** The configurations of a backend. */
export interface Schema {
  readonly kinds: Readonly<Partial<Record<Configuration['kind'], KindFields>>>;
  /** All fields, in the order of the stored JSON and of the text for people. Equal configurations give equal text. */
  readonly fields: Readonly<Record<string, SchemaField>>;
  /** A rule about several fields. Absent for none. */
  readonly isConsistent?: (configuration: Configuration) => boolean;
  /** Columns of a table of trials. All configurations of a workload have the same names. */
  columns(workload: Workload, configuration: Configuration): KnobColumns;
}

/** Values by the name of a column; null for a knob without a value. */
export type KnobColumns = Readonly<Record<string, number | boolean | null>>;

export const DEFAULT_SCHEMA: Schema = {
  kinds: { default: { required: [] } },
  fields: {},
  columns: () => ({}),
};

/** Whether a value is one tile for each dimension of the workload. */
export const isLevel = (value: unknown, rank: number | undefined): value is readonly number[] =>
  Array.isArray(value) &&
  value.length === rank &&
  value.length > 0 &&
  value.every((tile) => isIntegerWithin(tile, 0, LARGEST_TILE));

export const isWithin =
  (low: number, high: number) =>
  (value: unknown): value is number =>
    isIntegerWithin(value, low, high);

/**
 * Whether a value of one of the backend's kinds is a configuration. All fields are checked.
 * @param rank number of the workload's dimensions, if known; every level must have that many tiles
 */
export function isOfSchema(schema: Schema, value: object, rank?: number): boolean {
  if (!isObject(value)) return false;
  const { version, kind, ...own } = value;
  const { required, optional } = schema.kinds[kind as Configuration['kind']]!;
  const length = rank ?? Object.values(own).find((field) => Array.isArray(field))?.length;
  return (
    version === 1 &&
    hasKeys(own, required, optional) &&
    Object.entries(own).every(([name, field]) => schema.fields[name]!.check(field, length)) &&
    schema.isConsistent?.(value as unknown as Configuration) !== false
  );
}

/** A short text for people. Equal configurations give equal text. */
export function textOfSchema({ fields }: Schema, configuration: Configuration): string {
  const inner = Object.values(configuration).find(isObject);
  const values: Readonly<Record<string, unknown>> = { ...configuration, ...inner };
  const texts = Object.entries(fields).map(([name, { label }]) => {
    const field = values[name];
    if (label === undefined || field === undefined || field === false) return '';
    return field === true ? ` ${label}` : ` ${label}=${(field as string | number | number[]).toString()}`;
  });
  return configuration.kind + texts.join('');
}
