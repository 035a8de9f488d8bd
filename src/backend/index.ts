// The backends that are tuned for. A new one is a folder beside this file, an entry here, and its configurations' type in
// configuration.ts. Only the CPU's is there from the start; the others are loaded where something is about them.
import type { Release } from '../compiler/release.ts';
import type { Backend, Directive } from './backend.ts';
import { isDefault, type Configuration, type OwnConfiguration } from './configuration.ts';
import type { Device } from './device.ts';
import { llvmCpu } from './llvm-cpu/index.ts';
import type { Meter } from './meter.ts';

/** A backend that builds for other targets do not load. */
interface Deferred extends Pick<Backend, 'name' | 'drivers' | 'kinds'> {
  load(): Promise<Backend>;
}

const DEFERRED: readonly Deferred[] = [
  {
    name: 'cuda',
    drivers: ['cuda'],
    kinds: ['mma-tile', 'shared-sum', 'simt-tile'],
    load: async () => (await import('./cuda/index.ts')).cuda,
  },
  {
    name: 'rocm',
    drivers: ['hip'],
    kinds: ['mma-tile', 'shared-sum', 'simt-tile'],
    load: async () => (await import('./rocm/index.ts')).rocm,
  },
  {
    name: 'vulkan-spirv',
    drivers: ['vulkan'],
    kinds: ['spirv-tile'],
    load: async () => (await import('./vulkan/index.ts')).vulkan,
  },
];

/** Bundles, of which each has this module, share what one of them has loaded. */
const shared = globalThis as { ireeTunedBackends?: [Backend, ...Backend[]] };

/** Those that are loaded; the first one is there from the start. */
const LOADED = (shared.ireeTunedBackends ??= [llvmCpu]);

/** Adds a backend. Without effect where there is one of its name. */
export function addBackend(backend: Backend): void {
  if (LOADED.every(({ name }) => name !== backend.name)) LOADED.push(backend);
}

async function load(isWanted: (backend: Deferred) => boolean): Promise<void> {
  for (const one of DEFERRED.filter(isWanted)) addBackend(await one.load());
}

/** Loads all backends: for commands that read what is stored for any target. */
export const loadBackends = (): Promise<void> => load(() => true);

/** Loads the backends whose configurations a JSON text holds. */
export const loadBackendsIn = (text: string): Promise<void> =>
  load(({ kinds }) => kinds.some((kind) => text.includes(`"${kind}"`)));

const nameIn = (targetKey: string) => targetKey.split(' ', 1)[0]!;

/** The backend of that name, or of a target with that key, as far as it is loaded; undefined where nothing is tuned for it. */
export const backendNamed = (targetKey: string): Backend | undefined =>
  LOADED.find(({ name }) => name === nameIn(targetKey));

/** The same, loaded where it is not. */
export async function loadBackend(targetKey: string): Promise<Backend | undefined> {
  await load(({ name }) => name === nameIn(targetKey));
  return backendNamed(targetKey);
}

/** The driver of a device of the runtime, such as `vulkan` of `vulkan://0`. */
const driverOf = (device: string): string => device.replace(/:.*/s, '');

/** The backend that measures by a driver of the runtime; undefined where none does. */
export async function loadBackendOfDriver(device: string): Promise<Backend | undefined> {
  const driver = driverOf(device);
  await load(({ drivers }) => drivers.includes(driver));
  return LOADED.find(({ drivers }) => drivers.includes(driver));
}

/** The backend that code for a device comes from. */
export const backendOfDevice = ({ driver }: Pick<Device, 'driver'>): Backend =>
  LOADED.find(({ drivers }) => drivers.includes(driverOf(driver))) ?? LOADED[0];

/** How modules are run and timed on a device. */
export const meterOf = (device: Device): Meter => backendOfDevice(device).meter;

/** Flags that make IREE's runtime tools use exactly this device. */
export const deviceFlags = (device: Device): string[] => backendOfDevice(device).deviceFlags(device);

/** The backend that a configuration is for. */
export const backendOf = ({ kind }: OwnConfiguration): Backend =>
  LOADED.find(({ kinds }) => kinds.includes(kind))!;

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

/** What a configuration asks of the whole program: see `WholeProgram.needsOf`. Null for the default, and for none. */
export const needsOf = (configuration: Configuration | null): string | null =>
  configuration === null || isDefault(configuration)
    ? null
    : (backendOf(configuration).wholeProgram?.needsOf(configuration) ?? null);

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
  const backend = LOADED.find(({ kinds }) => (kinds as readonly unknown[]).includes(kind));
  return backend?.isConfiguration(value, rank) ?? false;
}

/** Whether this version knows such configurations; another one may know more. */
export const isKnownKind = (kind: string): boolean =>
  kind === 'default' || LOADED.some(({ kinds }) => (kinds as readonly string[]).includes(kind));
