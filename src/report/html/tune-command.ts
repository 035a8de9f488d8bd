// The commands that tune a miss. Pure.
import { isDevice } from '../../backend/device.ts';
import type { Subject } from '../../store/store.ts';
import { isSelfContained } from '../../workload/workload.ts';
import type { PageMiss } from './data.ts';
import { shellWord } from '../../system/shell-word.ts';

/** Ways to tune a workload at its place. */
export function tuneCommands(subject: Subject): PageMiss['commands'] {
  const program = {
    how: 'With its own program in place of model.mlir:',
    command: tuneCommand('model.mlir --budget 300', subject),
  };
  const misses = {
    how: 'All misses of matmuls and other contractions:',
    command: tuneCommand('--from-misses', subject),
  };
  return isSelfContained(subject.workloadForm) ? [misses, program] : [program];
}

function tuneCommand(work: string, { deviceForm, targetForm }: Subject): string {
  const driver = driverOf(deviceForm);
  const flags = flagsOf(targetForm);
  return [
    `iree-tuned${driver === null ? '' : ` --device ${driver}`} tune ${work}`,
    ...(flags.length === 0 ? [] : ['--', ...flags]),
  ].join(' ');
}

/** A driver name that is safe for a shell, else null. */
function driverOf(deviceForm: unknown): string | null {
  if (!isDevice(deviceForm) || deviceForm.driver === 'local-task') return null;
  return /^[a-z][a-z0-9-]{0,31}$/.test(deviceForm.driver) ? deviceForm.driver : null;
}

/**
 * The compiler's flags of the target, as words of a shell. The flags are untrusted: flags that could name a file, or that do not look
 * like flags of IREE, are left out.
 */
export function flagsOf(targetForm: unknown): string[] {
  const flags = (targetForm as { readonly candidateFlags?: unknown } | null)?.candidateFlags;
  if (!Array.isArray(flags)) return [];
  return flags
    .filter((flag: unknown): flag is string => typeof flag === 'string')
    .filter((flag) => /^--?iree-[a-z0-9-]{1,100}(?:=[\w.,:+-]{0,4000})?$/.test(flag))
    .map(shellWord);
}
