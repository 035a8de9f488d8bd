// What is compiled for, and what is measured on.
import { deviceKey, type Device } from '../backend/device.ts';
import { describeCompiler, type Command, type CompilerDescription } from '../compiler/index.ts';
import { candidateFlags, codegenFlags } from '../compiler/flag-roles.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { hostCpu } from '../system/processor.ts';
import { describeDevice } from '../backend/index.ts';
import { HOST_FLAGS, probeTargets, type ProbedTarget } from './probe.ts';
import { whyNotRunnable } from './target.ts';

export interface Site {
  /** Path of the compiler. */
  readonly executable: string;
  readonly compiler: CompilerDescription;
  readonly target: ProbedTarget;
  /** This machine, or what a database says of another one that is compiled for. */
  readonly device: Device;
  readonly deviceKey: string;
  /** Flags that candidates are compiled with. */
  readonly flags: readonly string[];
  /** The device that the build is for, as the user calls it, where that is another one; null where it is this one. */
  readonly forDevice: string | null;
  /** Why nothing can be measured for this target here; null when it can. */
  readonly whyNotHere: string | null;
}

/** Why a command has no site. */
export interface NoSite {
  readonly noSite: string;
  /** Whether it would have none again. */
  readonly lasting: boolean;
}

/** What a command compiles for and would measure on, asking the compiler what its flags mean. */
export async function describeSite(
  { arguments: args, compiler: { executable } }: Command,
  { settings, cacheDirectory }: Surroundings,
): Promise<Site | NoSite> {
  const flags = candidateFlags(args.flags);
  const cpu = hostCpu();
  const probe = (of: readonly string[], own: readonly string[]) =>
    probeTargets(executable, of, own, cpu, cacheDirectory);
  const { targets, problem } = await probe(flags, codegenFlags(args.flags));
  const target = targets[0];
  if (target === undefined)
    return {
      noSite: `the target is not known: ${problem ?? 'the compiler names none'}`,
      lasting: false,
    };
  if (targets.length > 1) return { noSite: 'several target devices', lasting: true };

  const device = describeDevice(settings.device);
  const host = (await probe(HOST_FLAGS, [])).targets[0]?.target ?? null;
  const whyNotHere = device.driver.startsWith('local-')
    ? whyNotRunnable(target.target, host, process.arch)
    : `no tuner for device ${device.driver} yet`;
  return {
    executable,
    compiler: await describeCompiler(executable, cacheDirectory),
    target,
    device,
    deviceKey: deviceKey(device),
    flags,
    forDevice: null,
    whyNotHere,
  };
}
