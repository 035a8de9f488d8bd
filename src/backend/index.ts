// The list of backends. A new backend is a folder beside this file, an entry here, and its configurations' type in configuration.ts. The
// CPU's backend is always loaded; other backends load on demand.
import type { Release } from '../compiler/release.ts';
import { isObject } from '../system/data.ts';
import type { Backend, Directive } from './backend.ts';
import { isDefault, type Configuration, type OwnConfiguration } from './configuration.ts';
import { driverOf, type Device } from './device.ts';
import { llvmCpu } from './llvm-cpu/index.ts';
import type { Meter } from './meter.ts';
import { DEFAULT_SCHEMA, isOfSchema, textOfSchema, type Schema } from './schema.ts';

interface Deferred extends Pick<Backend, 'name' | 'drivers'> {
  readonly kinds: readonly OwnConfiguration['kind'][];
  load(): Promise<Backend>;
}

/** A build for one CPU loads none of them. Backends may share kinds. */
const DEFERRED: readonly Deferred[] = [
  {
    name: 'cuda',
    drivers: ['cuda'],
    kinds: ['attention-tile', 'mma-tile', 'shared-sum', 'simt-tile'],
    load: async () => (await import('./cuda/index.ts')).cuda,
  },
  {
    name: 'rocm',
    drivers: ['hip'],
    kinds: ['attention-tile', 'mma-tile', 'shared-sum', 'simt-tile'],
    load: async () => (await import('./rocm/index.ts')).rocm,
  },
  {
    name: 'vulkan-spirv',
    drivers: ['vulkan'],
    kinds: ['spirv-cooperative', 'spirv-promoted', 'spirv-tile'],
    load: async () => (await import('./vulkan/index.ts')).vulkan,
  },
];

/** Every bundle has this module; all share the loaded backends. */
const shared = globalThis as { ireeTunedBackends?: [Backend, ...Backend[]] };

/** Loaded backends; the first is always loaded. */
const LOADED = (shared.ireeTunedBackends ??= [llvmCpu]);

/** Adds a backend, unless there is one of its name. */
export function addBackend(backend: Backend): void {
  if (LOADED.every(({ name }) => name !== backend.name)) LOADED.push(backend);
}

async function load(isWanted: (backend: Deferred) => boolean): Promise<void> {
  for (const one of DEFERRED.filter(isWanted)) addBackend(await one.load());
}

/** Loads all backends: for commands that read records of any target. */
export const loadBackends = (): Promise<void> => load(() => true);

/** Loads the backends of the configurations in a lock file, which names kinds but no backends. */
export const loadBackendsIn = (text: string): Promise<void> =>
  load(({ kinds }) => kinds.some((kind) => text.includes(`"${kind}"`)));

const nameIn = (targetKey: string) => targetKey.split(' ', 1)[0]!;

/** The loaded backend of a name or of a target's key; undefined for none. */
export const backendNamed = (targetKey: string): Backend | undefined =>
  LOADED.find(({ name }) => name === nameIn(targetKey));

/** The same; loads the backend first. */
export async function loadBackend(targetKey: string): Promise<Backend | undefined> {
  await load(({ name }) => name === nameIn(targetKey));
  return backendNamed(targetKey);
}

export const DRIVERS = [llvmCpu, ...DEFERRED].flatMap(({ drivers }) => drivers);

/** Why a device of the runtime runs no code of a backend; null if it may. */
export const whyForeign = ({ name, drivers }: Pick<Backend, 'name' | 'drivers'>, device: string) =>
  drivers.includes(driverOf(device))
    ? null
    : `device ${device} runs no code for ${name}: set device to ${drivers.join(' or ')}`;

/** The backend of a device of the runtime; undefined for none. Loads it first. */
export async function loadBackendOfDriver(device: string): Promise<Backend | undefined> {
  const driver = driverOf(device);
  await load(({ drivers }) => drivers.includes(driver));
  return backendOfDriver(driver);
}

/** The loaded backend of a driver; undefined for none. */
const backendOfDriver = (driver: string): Backend | undefined =>
  LOADED.find(({ drivers }) => drivers.includes(driverOf(driver)));

export const meterOf = ({ driver }: Device): Meter => (backendOfDriver(driver) ?? LOADED[0]).meter;

/** Flags of the runtime's tools for exactly this device. */
export const deviceFlags = ({ driver, threads }: Device): string[] => [
  `--device=${driver}`,
  ...(driver === 'local-task' ? [`--task_topology_max_group_count=${threads}`] : []),
];

/** The loaded backend of a kind of configurations; undefined for none. Of several with the kind, the first stands for all. */
const backendOfKind = (kind: string): Backend | undefined =>
  LOADED.find(({ schema }) => Object.hasOwn(schema.kinds, kind));

/** The schema of a kind of configurations; undefined for an unknown kind. */
const schemaOf = (kind: string): Schema | undefined =>
  kind === 'default' ? DEFAULT_SCHEMA : backendOfKind(kind)?.schema;

export const backendOf = ({ kind }: OwnConfiguration): Backend => backendOfKind(kind)!;

/**
 * The directive of a configuration; null for the default.
 * @param loops for each loop of the operation, outermost first, the index of the workload's dimension
 */
export const directiveOf = (
  configuration: Configuration,
  loops: readonly number[],
  release: Release,
): Directive | null =>
  isDefault(configuration)
    ? null
    : backendOf(configuration).rendering.directive(configuration, loops, release);

/** The requirement of a configuration on the whole program: see `WholeProgram.needsOf`. Null for the default, and for none. */
export const needsOf = (configuration: Configuration | null): string | null =>
  configuration === null || isDefault(configuration)
    ? null
    : (backendOf(configuration).wholeProgram?.needsOf(configuration) ?? null);

export const attributeText = ({ attribute, value }: Directive): string =>
  value === 'unit' ? attribute : `${attribute} = ${value}`;

/** The stored JSON of a configuration. Equal configurations give equal text. */
export const configurationText = (configuration: Configuration): string =>
  JSON.stringify(configuration, ['version', 'kind', ...Object.keys(schemaOf(configuration.kind)!.fields)]);

/** A short text for people. Equal configurations give equal text. */
export const configurationKey = (configuration: Configuration): string =>
  textOfSchema(schemaOf(configuration.kind)!, configuration);

/**
 * Whether a value is a configuration. All keys are checked.
 * @param rank number of the workload's dimensions, if known; every tile level must have that many entries
 */
export function isConfiguration(value: unknown, rank?: number): value is Configuration {
  if (!isObject(value) || typeof value['kind'] !== 'string') return false;
  const schema = schemaOf(value['kind']);
  return schema !== undefined && isOfSchema(schema, value, rank);
}

/** Whether this version knows a kind of configurations. A later version may know more. */
export const isKnownKind = (kind: string): boolean => schemaOf(kind) !== undefined;
