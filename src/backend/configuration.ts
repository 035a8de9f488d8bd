// A configuration has abstract knobs. The database stores versioned JSON, and each release of the compiler has its own MLIR text.
import type { AttentionConfiguration, GpuConfiguration } from './gpu/configuration.ts';
import type { LlvmCpuConfiguration } from './llvm-cpu/configuration.ts';
import type { VulkanConfiguration } from './vulkan/configuration.ts';

/** The compiler's own default. */
export interface DefaultConfiguration {
  readonly version: 1;
  readonly kind: 'default';
}

/** The configuration of one operation. `kind` decides about the backend. */
export type Configuration =
  | DefaultConfiguration
  | GpuConfiguration
  | AttentionConfiguration
  | LlvmCpuConfiguration
  | VulkanConfiguration;

export type OwnConfiguration = Exclude<Configuration, DefaultConfiguration>;

export const DEFAULT_CONFIGURATION: DefaultConfiguration = { version: 1, kind: 'default' };

export const isDefault = (configuration: Configuration): configuration is DefaultConfiguration =>
  configuration.kind === 'default';
