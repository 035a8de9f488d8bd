// A configuration is abstract knobs, stored as versioned JSON and rendered to MLIR per compiler version, never stored as MLIR.
import type { GpuConfiguration } from './gpu/configuration.ts';
import type { LlvmCpuConfiguration } from './llvm-cpu/configuration.ts';
import type { VulkanConfiguration } from './vulkan/configuration.ts';

/** Leave the operation to the compiler's own defaults. */
export interface DefaultConfiguration {
  readonly version: 1;
  readonly kind: 'default';
}

/** What one operation is compiled with; `kind` says which backend's it is. */
export type Configuration =
  DefaultConfiguration | GpuConfiguration | LlvmCpuConfiguration | VulkanConfiguration;

/** A configuration that asks for something. */
export type OwnConfiguration = Exclude<Configuration, DefaultConfiguration>;

export const DEFAULT_CONFIGURATION: DefaultConfiguration = { version: 1, kind: 'default' };

export const isDefault = (configuration: Configuration): configuration is DefaultConfiguration =>
  configuration.kind === 'default';
