// What a backend of the compiler is to the rest of the program: one object for each folder beside this file.
import type { Release } from '../compiler/release.ts';
import type { SearchSpace } from '../search/space.ts';
import type { Rule } from '../spec/rules.ts';
import type { SpecFlag } from '../spec/tuning.ts';
import type { DispatchWork } from '../workload/dispatch/dispatch-work.ts';
import type { MatchedForm, Workload } from '../workload/workload.ts';
import type { Configuration, OwnConfiguration } from './configuration.ts';
import type { Device, DeviceQuestion } from './device.ts';
import type { ConfiguredOperation } from './dumps.ts';
import type { Meter } from './meter.ts';
import type { Target } from './target.ts';

/** How a configuration is asked for: an attribute, as text. */
export interface Directive {
  readonly attribute: string;
  readonly value: string;
}

/** The hardware that code is generated for, as far as search spaces depend on it. */
export interface Hardware {
  /** Widest vector register of the target in bytes; 0 for a GPU. */
  readonly nativeVectorBytes: number;
  /** Number of vector registers; 0 for a GPU. */
  readonly vectorRegisters: number;
  /** Threads of the host that the program runs on; 1 for a GPU. */
  readonly threads: number;
  /** `Target.gpu`. Absent for CPUs. */
  readonly gpu?: string;
}

/** Inputs of a workload's search space beside the workload itself. */
export interface SpaceOptions extends Hardware {
  /** Whether configurations may need something of the whole program: not where the user has decided about it. */
  readonly wholeProgram: boolean;
  /** Whether what the compiler makes of an operation may be configured, too: not where no tuning spec can be brought. */
  readonly following: boolean;
  /** What a user allows; all that is worth trying when left out. What comes of it is no search of the whole space. */
  readonly only?: KnobValues;
}

/** Values that a user allows knobs to have, each once, smallest first, by the names of `Backend.userKnobs`; others are free. */
export type KnobValues = Readonly<Record<string, readonly number[]>>;

/** A knob by the name that users know it by, whatever a workload's dimensions are. */
export interface UserKnob {
  readonly name: string;
  /** What its values are; 0 and 1 stand for false and true. */
  readonly type: 'tile' | 'boolean';
  /** The least tile. */
  readonly least: number;
  /** What it decides, for people. */
  readonly about: string;
}

/** What a configuration has of each knob. */
export type KnobColumns = Readonly<Record<string, number | boolean | null>>;

/** What profilers call a configuration: single words. */
export interface ConfigurationNames {
  /** Of a workgroup along m and n, and of what is summed at once: `64x32x128`. */
  readonly tiles: string;
  /** The same of registers. */
  readonly vectors: string;
  /** What computes, and how. */
  readonly core: string;
  readonly instruction: string;
}

/** A value that a user allows and that cannot be tried for a workload. */
export interface IllegalValue {
  readonly knob: string;
  readonly value: number;
  /** The rule that it breaks. */
  readonly rule: string;
}

/** A configuration that was measured, with median seconds of one execution. */
export interface Measured {
  readonly configuration: Configuration;
  readonly seconds: number;
}

/** Text of the program after a phase of the compiler, with one operation of this configuration; null when it does not get there. */
export type TextAfter = (configuration: Configuration, phase: string) => Promise<Uint8Array | null>;

/** Everything that differs from one backend to another. Optional parts are what most backends do not have. */
export interface Backend {
  /** As IREE calls it: the first word of a target's key. */
  readonly name: string;
  /** Drivers of the runtime that run its code, the values of `--device=`; the first one is the default. */
  readonly drivers: readonly [string, ...string[]];

  // Devices and measuring.

  /** The device that a driver stands for on this machine, or the reason that there is none. */
  describeDevice(driver: string, question: DeviceQuestion): Promise<Device | string>;
  /** Files of the driver, and files that choose it: where one changes, it may be another device. Absent for none. */
  driverFiles?(question: DeviceQuestion): readonly string[];
  /** Flags that make the runtime's tools use exactly this device. */
  deviceFlags(device: Device): string[];
  /**
   * Why code for a target cannot be run on a device of this machine; null when it can.
   * @param hostTarget what the compiler expands this machine's CPU to; null where nobody knows
   */
  whyNotRunnable(
    target: Target,
    device: Device,
    hostTarget: () => Promise<Target | null>,
  ): Promise<string | null>;
  readonly meter: Meter;

  // Configurations.

  /** What configurations of this backend are called. */
  readonly kinds: readonly OwnConfiguration['kind'][];
  /** Whether a value, of a database say, is a configuration for a workload of `rank` iteration dimensions. */
  isConfiguration(value: object, rank: number | undefined): value is OwnConfiguration;
  /** All keys of its configurations' JSON, in the order in which they are written. */
  readonly jsonKeys: readonly string[];
  /** A short text for people: equal configurations give equal text. */
  keyOf(configuration: OwnConfiguration): string;
  /** What profilers call a configuration. */
  namesOf(workload: Workload, configuration: OwnConfiguration): ConfigurationNames;
  /** A configuration as values of knobs, the same names in the same order for all of a workload; null where it has none. */
  knobValues(workload: Workload, configuration: OwnConfiguration): KnobColumns;

  // Search spaces.

  /** The hardware of a target, and of the device that runs its code. */
  hardwareOf(target: Target, device: Device): Hardware;
  /**
   * What kinds of configurations a search for a workload can choose from, sorted; none where it is not tuned. About those
   * that it could not, its record says nothing.
   */
  familiesOf(workload: Workload, options: Pick<SpaceOptions, 'wholeProgram' | 'only'>): readonly string[];
  /** All configurations worth trying; everything it yields compiles, and gives right results. */
  spaceOf(workload: Workload, options: SpaceOptions): SearchSpace<Configuration>;
  /**
   * What decides about the speed of a configuration, as numbers, for a prior; null where nothing is known.
   * @returns as many numbers as the backend's priors ask about
   */
  featuresOf(
    workload: Workload,
    configuration: Configuration,
    options: SpaceOptions,
  ): readonly number[] | null;
  /** The knobs that users may restrict, and the largest tile. */
  readonly userKnobs: readonly UserKnob[];
  readonly largestTile: number;
  /** Whether these are knobs of a workload. */
  isRestrictable(workload: Workload): boolean;
  /** What of `options.only` no configuration of a workload can have. */
  illegalValues(workload: Workload, options: SpaceOptions): readonly IllegalValue[];

  // Injection and landing.

  /** The flag by which tuning specs reach this backend. */
  readonly specFlag: SpecFlag;
  /**
   * The attribute of one operation; null for what says something of several.
   * @param loops for each loop of the operation, outermost first, the index of the workload's dimension it runs over
   */
  directive(configuration: OwnConfiguration, loops: readonly number[], release: Release): Directive | null;
  /**
   * The operations of the compiler's dumps that are of this form and have the configuration; none where it has not landed.
   * @param loops in which the directive was rendered
   * @param expected keys of the forms that all operations of the input have
   */
  landedOn(
    configured: readonly ConfiguredOperation[],
    form: MatchedForm,
    configuration: OwnConfiguration,
    loops: readonly number[],
    expected: ReadonlySet<string>,
  ): readonly ConfiguredOperation[];

  // Optional parts.

  /**
   * The text of an executable that the compiler has configured, with another configuration on its operations; null where it is not
   * that dispatch, or the configuration says nothing of it. Absent where whole dispatches are not tuned.
   */
  reconfigured?(text: string, workload: DispatchWork, configuration: OwnConfiguration): string | null;
  /** Configurations that ask something of the whole program. Absent where there are none. */
  readonly wholeProgram?: WholeProgram;
}

/** Configurations that ask something of the whole program before code generation begins, such as data tiling. */
export interface WholeProgram {
  /** What is worth trying on all operations of a program together, measured on none of them; null where nothing is. */
  offer(workload: Workload, options: Pick<SpaceOptions, 'wholeProgram'>): OwnConfiguration | null;
  /** What else is worth trying, given what was measured first. */
  followUps(
    workload: Workload,
    measured: readonly Measured[],
    options: SpaceOptions,
    textAfter: TextAfter,
  ): Promise<readonly Configuration[]>;
  /** What a configuration asks, such as `data tiling`; null when its directive is enough wherever it stands. */
  needsOf(configuration: OwnConfiguration): string | null;
  /** What a program takes in which a directive needs something: flags, and rules that keep it from all other operations. */
  readonly flags: readonly string[];
  readonly rules: readonly Rule[];
  /** Rules for what the compiler makes of operations with these configurations before it generates code. */
  followingRules(entries: readonly { workload: Workload; configuration: OwnConfiguration }[]): Rule[];
  /**
   * Candidates whose configurations say something of operations that only exist after a phase of the compiler, where
   * those of all candidates look alike: the compiler stops there, `annotate` writes on each line what a configuration
   * says, and the compiler goes on.
   */
  readonly late: {
    readonly phase: string;
    isNeeded(configuration: Configuration): boolean;
    annotate(line: string, configuration: Configuration): string;
  };
}
