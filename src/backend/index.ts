// The backends that are tuned for. A new one is a folder beside this file, a line here, and its configurations' type in
// configuration.ts.
import type { Release } from '../compiler/release.ts';
import type { Backend, Directive } from './backend.ts';
import { isDefault, type Configuration, type OwnConfiguration } from './configuration.ts';
import type { Device } from './device.ts';
import { llvmCpu } from './llvm-cpu/index.ts';

const BACKENDS: readonly [Backend, ...Backend[]] = [llvmCpu];

/** The backend of that name, or of a target with that key; undefined where nothing is tuned for it. */
export const backendNamed = (targetKey: string): Backend | undefined =>
  BACKENDS.find(({ name }) => name === targetKey.split(' ', 1)[0]);

/**
 * The backend that measures by a driver of the runtime. Where none does, the machine is what tells records apart, which
 * any can describe.
 */
const backendOfDriver = (driver: string): Backend =>
  BACKENDS.find(({ drivers }) => drivers.includes(driver)) ?? BACKENDS[0];

/** What the runtime driver `driver` stands for on this machine. */
export const describeDevice = (driver: string): Device => backendOfDriver(driver).describeDevice(driver);

/** Flags that make IREE's runtime tools use exactly this device. */
export const deviceFlags = (device: Device): string[] => backendOfDriver(device.driver).deviceFlags(device);

/** The backend that a configuration is for. */
export const backendOf = ({ kind }: OwnConfiguration): Backend =>
  BACKENDS.find(({ kinds }) => kinds.includes(kind))!;

/**
 * The directive of a configuration for an operation with such `loops`: for each, outermost first, the index of the
 * workload's dimension it runs over; null for the default.
 */
export const directiveOf = (
  configuration: Configuration,
  loops: readonly number[],
  release: Release,
): Directive | null =>
  isDefault(configuration) ? null : backendOf(configuration).directive(configuration, loops, release);

/** What a configuration asks of the whole program: see `Backend.needsOf`. Null for the default, and for none. */
export const needsOf = (configuration: Configuration | null): string | null =>
  configuration === null || isDefault(configuration) ? null : backendOf(configuration).needsOf(configuration);

/** A directive in the attributes of an operation. */
export const attributeText = ({ attribute, value }: Directive): string =>
  value === 'unit' ? attribute : `${attribute} = ${value}`;

/** The JSON that a configuration is stored as: equal configurations give equal text. */
export const configurationText = (configuration: Configuration): string =>
  JSON.stringify(
    configuration,
    isDefault(configuration) ? ['version', 'kind'] : [...backendOf(configuration).jsonKeys],
  );

/** A short text for people: equal configurations give equal text. */
export const configurationKey = (configuration: Configuration): string =>
  isDefault(configuration) ? configuration.kind : backendOf(configuration).keyOf(configuration);

/**
 * Whether a value is a configuration, down to the last key.
 * @param rank the workload's number of iteration dimensions, where it is known: every tile level must have that many
 * entries
 */
export function isConfiguration(value: unknown, rank?: number): value is Configuration {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  const { kind } = value;
  if (kind === 'default') return 'version' in value && value.version === 1 && Object.keys(value).length === 2;
  const backend = BACKENDS.find(({ kinds }) => (kinds as readonly unknown[]).includes(kind));
  return backend?.isConfiguration(value, rank) ?? false;
}

/** Whether this version knows such configurations; another one may know more. */
export const isKnownKind = (kind: string): boolean =>
  kind === 'default' || BACKENDS.some(({ kinds }) => (kinds as readonly string[]).includes(kind));
