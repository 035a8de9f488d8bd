// The site of a command: compiler, target and device.
import { deviceKey, unknownDevice, type Device, type DeviceQuestion } from '../backend/device.ts';
import type { Backend } from '../backend/backend.ts';
import { loadBackend, whyForeign } from '../backend/index.ts';
import type { Command } from '../compiler/command.ts';
import { describeCompiler, type CompilerDescription } from '../compiler/describe.ts';
import { findRuntimeTool, type FoundCompiler } from '../compiler/find.ts';
import { candidateFlags, codegenFlags } from '../compiler/flag-roles.ts';
import { factsFolder, isDescribed, isKnown, runnerOf, type Runner } from '../runner/runner.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { hostCpu } from '../system/processor.ts';
import { HOST_FLAGS, probeTargets, type ProbedTarget } from './probe.ts';
import { because, type Reason } from '../system/reason.ts';

export interface Site {
  readonly executable: string;
  readonly compiler: CompilerDescription;
  readonly target: ProbedTarget;
  /** This machine's device, or from the database the device that the build is for. */
  readonly device: Device;
  readonly deviceKey: string;
  /** Files of the device's driver. A change of them makes another device. */
  readonly driverFiles: readonly string[];
  /** Flags for compiling candidates. */
  readonly flags: readonly string[];
  /** The setting `for-device`; null if the build is for this machine. */
  readonly forDevice: string | null;
  /** Why this machine cannot measure for the target; null if it can. */
  readonly whyNotHere: Reason | null;
}

export interface NoSite extends Reason {
  /** The targets of a command for several; empty for other commands. */
  readonly targets: readonly ProbedTarget[];
}

const unsuitable = (problem: string | null): Reason | null =>
  problem === null ? null : because('device-unsuitable', problem);

export const noTuner = ({ target }: Pick<ProbedTarget, 'target'>): Reason =>
  because('backend-unsupported', `no tuner for backend ${target.backend} yet`);

/**
 * Determines the site of a command. It may ask the compiler about the flags. The site of a target that this machine cannot measure has the
 * reason in `whyNotHere`; builds use records there, and measure nothing.
 */
export async function describeSite(
  { arguments: args, compiler }: Pick<Command, 'arguments' | 'compiler'>,
  surroundings: Surroundings,
): Promise<Site | NoSite> {
  const { settings, cacheDirectory } = surroundings;
  const { executable } = compiler;
  const flags = candidateFlags(args.flags);
  const cpu = hostCpu();
  const probe = (of: readonly string[], own: readonly string[]) =>
    probeTargets(executable, of, own, cpu, cacheDirectory);
  const { targets, problem } = await probe(flags, codegenFlags(args.flags));
  const [target, ...others] = targets;
  if (target === undefined || others.length > 0) {
    const names = targets.map((one) => one.target.backend).join(', ');
    const why =
      target === undefined
        ? because('target-unknown', `the target is not known: ${problem ?? 'the compiler names none'}`)
        : because('several-targets', `the command has several targets: ${names}`);
    return { ...why, targets };
  }

  const backend = await loadBackend(target.key);
  const question = questionAbout(compiler, surroundings);
  const driver = settings.device ?? backend?.drivers[0] ?? 'none';
  const hostTarget = async () => (await probe(HOST_FLAGS, [])).targets[0]?.target ?? null;
  const describe = async (): Promise<readonly [Device, Reason | null]> => {
    const without = (why: Reason) => [unknownDevice(driver), why] as const;
    if (backend === undefined) return without(noTuner(target));
    const foreign = unsuitable(whyForeign(backend, driver));
    if (foreign !== null) return without(foreign);
    const found = await describeDevice(backend, driver, question);
    if (typeof found === 'string') return without(because('device-missing', found));
    const { runner, root } = question;
    const machine = { root, isUnknown: runner !== null && !isDescribed(runner), hostTarget };
    return [found, unsuitable(await backend.devices.whyNotRunnable(target.target, found, machine))];
  };
  const [device, whyNotHere] = await describe();
  return {
    executable,
    compiler: await describeCompiler(executable, cacheDirectory),
    target,
    device,
    deviceKey: deviceKey(device),
    driverFiles: backend?.devices.driverFiles?.(question) ?? [],
    flags,
    forDevice: null,
    whyNotHere,
  };
}

interface SiteQuestion extends DeviceQuestion {
  /** Null for this machine. */
  readonly runner: Runner | null;
}

/** The device of a driver on this machine, or on that of the runner, which is asked once; else the reason that there is none. */
export async function describeDevice(
  backend: Backend,
  driver: string,
  question: SiteQuestion,
): Promise<Device | string> {
  const { runner } = question;
  if (runner !== null && !isKnown(runner)) {
    // Loaded on demand: a hit has the facts.
    const problem = await (await import('../runner/facts.ts')).askFacts(runner);
    if (problem !== null) return problem;
  }
  return backend.devices.describe(driver, question);
}

/** Context for queries of devices, with the runtime's tools beside a compiler. */
export function questionAbout(compiler: FoundCompiler | null, surroundings: Surroundings): SiteQuestion {
  const { env, settings, cacheDirectory } = surroundings;
  const runner = runnerOf(settings, cacheDirectory);
  return {
    runModule: () => compiler && (findRuntimeTool('iree-run-module', compiler, env, surroundings) ?? null),
    cacheDirectory,
    env,
    runner,
    root: runner === null ? '' : factsFolder(runner),
  };
}
