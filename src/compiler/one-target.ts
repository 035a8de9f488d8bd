// The part of a command for one of its targets.
import type { Flag } from './arguments.ts';
import { readCommand, type Command, type CommandPlace } from './command.ts';

/** Flags that choose devices and backends. */
const SELECTION = /^iree-hal-(?:target-(?:device|backends)|local-target-device-backends|default-device)$/;

/** Flags that only one backend reads. */
const FLAGS_OF: Readonly<Record<string, RegExp>> = {
  'llvm-cpu': /^iree-llvmcpu-/,
  vmvx: /^iree-vmvx-/,
  cuda: /^iree-cuda-/,
  rocm: /^iree-(?:hip|rocm)-/,
  'vulkan-spirv': /^iree-(?:vulkan|spirv)-/,
  'metal-spirv': /^iree-(?:metal|spirv)-/,
};

/** The arguments with one backend, without flags for other backends. Response files are expanded. */
export function argvForBackend(
  { expanded, arguments: { flags } }: Pick<Command, 'expanded' | 'arguments'>,
  backend: string,
): string[] {
  const isOfOthers = ({ name }: Flag) =>
    SELECTION.test(name) ||
    (FLAGS_OF[backend]?.test(name) !== true && Object.values(FLAGS_OF).some((own) => own.test(name)));
  const left = flags.filter(isOfOthers);
  return [
    `--iree-hal-target-backends=${backend}`,
    ...expanded.filter((_, i) => left.every(({ index, end }) => i < index || i >= end)),
  ];
}

export const commandForBackend = (command: Command, backend: string, place: CommandPlace): Promise<Command> =>
  readCommand(argvForBackend(command, backend), command.compiler, place);
