// What is compiled for, and what is measured on.
import { deviceKey, unknownDevice, type Device, type DeviceQuestion } from '../backend/device.ts';
import { loadBackend } from '../backend/index.ts';
import type { Command } from '../compiler/command.ts';
import { describeCompiler, type CompilerDescription } from '../compiler/describe.ts';
import { findRuntimeTool, type FoundCompiler } from '../compiler/find.ts';
import { candidateFlags, codegenFlags } from '../compiler/flag-roles.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { hostCpu } from '../system/processor.ts';
import { HOST_FLAGS, probeTargets, type ProbedTarget } from './probe.ts';
import { because, type Reason } from '../system/reason.ts';

export interface Site {
  /** Path of the compiler. */
  readonly executable: string;
  readonly compiler: CompilerDescription;
  readonly target: ProbedTarget;
  /** This machine, or what a database says of another one that is compiled for. */
  readonly device: Device;
  readonly deviceKey: string;
  /** Files of the device's driver: with other ones it is another device. */
  readonly driverFiles: readonly string[];
  /** Flags that candidates are compiled with. */
  readonly flags: readonly string[];
  /** The device that the build is for, as the user calls it, where that is another one; null where it is this one. */
  readonly forDevice: string | null;
  /** Why nothing can be measured for this target here; null when it can. */
  readonly whyNotHere: Reason | null;
}

/** Why a command has no site. */
export interface NoSite {
  readonly noSite: Reason;
  /** Whether it would have none again. */
  readonly lasting: boolean;
}

const unsuitable = (problem: string | null): Reason | null =>
  problem === null ? null : because('device-unsuitable', problem);

/** Why nothing is tuned for a target without a backend of ours. */
export const noTuner = ({ target }: Pick<ProbedTarget, 'target'>): Reason =>
  because('backend-unsupported', `no tuner for backend ${target.backend} yet`);

/** What a command compiles for and would measure on, asking the compiler what its flags mean. */
export async function describeSite(
  { arguments: args, compiler }: Command,
  surroundings: Surroundings,
): Promise<Site | NoSite> {
  const { settings, cacheDirectory } = surroundings;
  const { executable } = compiler;
  const flags = candidateFlags(args.flags);
  const cpu = hostCpu();
  const probe = (of: readonly string[], own: readonly string[]) =>
    probeTargets(executable, of, own, cpu, cacheDirectory);
  const { targets, problem } = await probe(flags, codegenFlags(args.flags));
  const target = targets[0];
  if (target === undefined)
    return {
      noSite: because('target-unknown', `the target is not known: ${problem ?? 'the compiler names none'}`),
      lasting: false,
    };
  if (targets.length > 1) return { noSite: because('several-targets'), lasting: true };

  const backend = await loadBackend(target.key);
  const question = questionAbout(compiler, surroundings);
  const driver = settings.device ?? backend?.drivers[0] ?? 'none';
  const found = await backend?.describeDevice(driver, question);
  const hostTarget = async () => (await probe(HOST_FLAGS, [])).targets[0]?.target ?? null;
  const [device, whyNotHere] =
    typeof found === 'object'
      ? [found, unsuitable(await backend!.whyNotRunnable(target.target, found, hostTarget))]
      : [unknownDevice(driver), found === undefined ? noTuner(target) : because('device-missing', found)];
  return {
    executable,
    compiler: await describeCompiler(executable, cacheDirectory),
    target,
    device,
    deviceKey: deviceKey(device),
    driverFiles: backend?.driverFiles?.(question) ?? [],
    flags,
    forDevice: null,
    whyNotHere,
  };
}

/** Means of finding out about devices, with the runtime's tools that belong to a compiler. */
export const questionAbout = (
  compiler: FoundCompiler | null,
  { env, root, cacheDirectory }: Surroundings,
): DeviceQuestion => ({
  runModule: () =>
    compiler && (findRuntimeTool('iree-run-module', compiler, env, { root, cacheDirectory }) ?? null),
  cacheDirectory,
  env,
});
