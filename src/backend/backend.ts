// The interface of a backend: one object for each folder beside this file.
import type { Release } from '../compiler/release.ts';
import type { Packings } from '../form/packing.ts';
import { EMPTY_SPACE, type SearchSpace } from '../search/space.ts';
import type { Rule } from '../spec/rules.ts';
import type { SpecFlag } from '../spec/tuning.ts';
import type { DispatchWork } from '../workload/dispatch/dispatch-work.ts';
import type { MatchedForm, Workload } from '../workload/workload.ts';
import type { Configuration, OwnConfiguration } from './configuration.ts';
import type { Device, DeviceQuestion } from './device.ts';
import type { ConfiguredOperation } from './dumps.ts';
import type { Meter } from './meter.ts';
import type { Schema } from './schema.ts';
import type { Target } from './target.ts';

/** The attribute of a configuration, as text. */
export interface Directive {
  readonly attribute: string;
  readonly value: string;
}

/** The hardware of a target, as far as search spaces depend on it. */
export interface Hardware {
  /** Width of the widest vector register in bytes; 0 for a GPU. */
  readonly nativeVectorBytes: number;
  /** Number of vector registers; 0 for a GPU. */
  readonly vectorRegisters: number;
  /** Host threads of the program; 1 for a GPU. */
  readonly threads: number;
  /** `Device.cachesKiB`. Absent for GPUs. */
  readonly cachesKiB?: readonly number[];
  /** `Target.gpu`. Absent for CPUs. */
  readonly gpu?: string;
  /** Whether the CPU has AArch64's products of matrices of bytes (i8mm). Absent for others. */
  readonly hasByteMatrices?: true;
}

/** Inputs of a workload's search space beside the workload itself. */
export interface SpaceOptions extends Hardware {
  /** Whether configurations may have requirements on the whole program. False if the user has set the flags for them. */
  readonly wholeProgram: boolean;
  /** Whether operations that the compiler creates may get configurations. False without a route for a tuning spec. */
  readonly following: boolean;
  /** A user's restriction of knobs; without it the whole space. */
  readonly only?: KnobValues;
}

/** A user's values of knobs, each once, smallest first, by the names of `Backend.userKnobs`. Other knobs are free. */
export type KnobValues = Readonly<Record<string, readonly number[]>>;

/** A knob by its user's name, which is the same for all workloads. */
export interface UserKnob {
  readonly name: string;
  /** Type of the values; 0 and 1 stand for false and true. */
  readonly type: 'tile' | 'boolean';
  readonly least: number;
}

export interface IllegalValue {
  readonly knob: string;
  readonly value: number;
  readonly rule: string;
}

/** A measured configuration, with median seconds of one execution. */
export interface Measured {
  readonly configuration: Configuration;
  readonly seconds: number;
}

/** Text after a phase of the compiler of a program with one operation of this configuration; null if the compile fails. */
export type TextAfter = (configuration: Configuration, phase: string) => Promise<Uint8Array | null>;

export interface Tuning {
  /** The property for which the workload is not tuned, such as `bf16`; null for a tuned workload. */
  readonly unsupported: string | null;
  /**
   * Kinds of configurations that a search chooses from, sorted; none for an untuned workload. A record without one of these kinds is
   * searched again: a later version may have added the kind.
   */
  families(options: Pick<SpaceOptions, 'wholeProgram' | 'only'>): readonly string[];
  /** The search space. All its configurations compile and compute the right result. */
  space(options: SpaceOptions): SearchSpace<Configuration>;
  /**
   * Features of a configuration for a prior; null without features. Absent without a prior.
   * @returns one number for each feature of the backend's priors
   */
  features?(configuration: Configuration, options: SpaceOptions): readonly number[] | null;
  /** Values of `options.only` that no configuration can have. Absent if a user cannot restrict the knobs. */
  illegalValues?(options: SpaceOptions): readonly IllegalValue[];
}

/** The tuning of a workload that a backend does not tune. @param unsupported the property for which the workload is not tuned */
export const untuned = (unsupported: string): Tuning => ({
  unsupported,
  families: () => [],
  space: () => EMPTY_SPACE,
});

/** The differences between backends. Most backends have no optional parts. */
export interface Backend {
  /** IREE's name: the first word of a target's key. */
  readonly name: string;
  /** Drivers of the runtime for its code, the values of `--device=`; the first driver is the default. */
  readonly drivers: readonly [string, ...string[]];
  readonly devices: Devices;
  readonly meter: Meter;
  readonly schema: Schema;
  tuning(workload: Workload): Tuning;
  /** Knobs that a user can restrict, by `--search-space` or a settings file of IREE's auto-scheduler. */
  readonly userKnobs: readonly UserKnob[];
  readonly rendering: Rendering;
  /** @param architecture of the target, in the spelling of Node's `process.arch` */
  flags(architecture: string): ComparisonFlags;
  /** The best packings of products for a target. Absent for a backend without. */
  packings?(target: Target, release: Release): Packings;
  /** Configurations with requirements on the whole program. Absent for none. */
  readonly wholeProgram?: WholeProgram;
}

export interface Machine extends Pick<DeviceQuestion, 'root'> {
  /** Whether the machine does not describe itself, as an emulator may not. */
  readonly isUnknown: boolean;
  /** The compiler's target for the CPU of this machine; null if unknown. */
  readonly hostTarget: () => Promise<Target | null>;
}

export interface Devices {
  /**
   * The device of a driver; else the reason that there is none, and after a colon the way out.
   * @param driver one of the backend's drivers, perhaps with a number or a name, such as `cuda://1`
   */
  describe(driver: string, question: DeviceQuestion): Promise<Device | string>;
  /** Files of the driver, and files that choose the driver. After a change of one, the device may be another. Absent for none. */
  driverFiles?(question: DeviceQuestion): readonly string[];
  /** The reason that a device cannot run code for a target; null if the device can. */
  whyNotRunnable(target: Target, device: Device, machine: Machine): Promise<string | null>;
  /** The facts about a target and its device that search spaces depend on. */
  hardwareOf(target: Target, device: Device): Hardware;
}

/** Flags of builds whose results are compared with those of tuned builds. */
export interface ComparisonFlags {
  /** Flags of builds that change only how a program rounds: one list for each build. Their results bound the rounding of honest builds. */
  readonly otherRounding: readonly (readonly string[])[];
  /** Flags for code that is generated quickly, for any processor, and computes the same. */
  readonly plainCode?: readonly string[];
}

/** How configurations reach the compiler's code, and how its dumps show them. */
export interface Rendering {
  /** The compiler's flag for tuning specs that this backend's pipelines do not ignore. */
  readonly specFlag: SpecFlag;
  /**
   * The attribute of one operation; null for a configuration of several operations.
   * @param loops for each loop of the operation, outermost first, the index of the workload's dimension
   */
  directive(configuration: OwnConfiguration, loops: readonly number[], release: Release): Directive | null;
  /**
   * The operations of the compiler's dumps of this form with the configuration; none if the configuration has not landed.
   * @param loops of the rendered directive
   * @param expected keys of the forms of all operations of the input
   */
  landedOn(
    configured: readonly ConfiguredOperation[],
    form: MatchedForm,
    configuration: OwnConfiguration,
    loops: readonly number[],
    expected: ReadonlySet<string>,
  ): readonly ConfiguredOperation[];
  /**
   * The text of a configured executable with another configuration on its operations; null for another dispatch, or for a configuration
   * of another kind. Absent if the backend does not tune whole dispatches.
   */
  reconfigured?(text: string, workload: DispatchWork, configuration: OwnConfiguration): string | null;
}

/** Configurations with requirements on the whole program before code generation, such as data tiling. */
export interface WholeProgram {
  /** A configuration to try on all operations of a program together, without a measurement of each; null for none. */
  candidate(workload: Workload, options: Pick<SpaceOptions, 'wholeProgram'>): OwnConfiguration | null;
  /** Whether a workload is likely to gain more from it than from all others. */
  isLikelyToGain(workload: Workload): boolean;
  /** More configurations to try after the first measurements. */
  followUps(
    workload: Workload,
    measured: readonly Measured[],
    options: SpaceOptions,
    textAfter: TextAfter,
  ): Promise<readonly Configuration[]>;
  /** The requirement of a configuration, such as `data tiling`; null if the directive is enough. */
  needsOf(configuration: OwnConfiguration): string | null;
  /** Flags of a program with such a directive, and rules that keep the flags' effect from all other operations. */
  readonly flags: readonly string[];
  readonly rules: readonly Rule[];
  /** Rules for operations that the compiler creates from operations with these configurations. */
  followingRules(entries: readonly { workload: Workload; configuration: OwnConfiguration }[]): Rule[];
  /**
   * Configurations of operations that exist only after a phase of the compiler. The operations of all candidates look alike there. The
   * compiler therefore stops after the phase, `annotate` adds attributes to each line, and the compiler continues.
   */
  readonly late: {
    readonly phase: string;
    isNeeded(configuration: Configuration): boolean;
    annotate(line: string, configuration: Configuration): string;
  };
}
