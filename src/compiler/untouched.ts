// Decides by the command line alone whether a command can be tuned.
import { because, type Reason } from '../system/reason.ts';
import { lastValue, type CompilerArguments } from './arguments.ts';
import { firstOf } from './flag-roles.ts';

/** Paths of file descriptors: each process has its own. */
export const DESCRIPTOR = /^\/(?:dev\/(?:std|fd)|proc\/)/;

/**
 * Why a command cannot be tuned: it does not compile one input to the end, the user tunes it, or our own compiles could write files of the
 * user. Null if it can.
 */
export function whyUntouched(args: CompilerArguments): Reason | null {
  if (args.informational) return because('information-only');
  if (args.unclear !== null) return because('command-unclear', args.unclear);
  // A held output is delivered later, when the name of a descriptor means another file.
  if (args.output.kind === 'file' && DESCRIPTOR.test(args.output.path)) return because('output-descriptor');
  const tuning = firstOf('tuning', args.flags);
  if (tuning !== null) return because('own-tuning', `${tuning} is given`);
  for (const [flag, whole] of Object.entries(WHOLE_COMPILE)) {
    const value = lastValue(args, flag);
    if (value !== null && !whole.includes(value)) return because('partial-compile', `--${flag}=${value}`);
  }
  return whyUnknown(args);
}

/** Why our own compiles cannot have the flags: one of them may write a file. Null if they can. */
export function whyUnknown({ flags }: Pick<CompilerArguments, 'flags'>): Reason | null {
  const unknown = firstOf('unknown', flags);
  return unknown === null ? null : because('command-unclear', `${unknown} may write a file`);
}

/** Values of flags with which the compiler compiles an input from its start to its end. */
const WHOLE_COMPILE = {
  'compile-to': ['end', 'vm'],
  'compile-from': ['start', 'input'],
  'compile-mode': ['std'],
};
