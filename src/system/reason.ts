// Reasons: a code for programs and counters, and a text for people. This file lists all codes.
import { hasFields, isText, type Check } from './data.ts';

/** The meaning of each code. It is also the text of a reason without details. */
export const REASONS = {
  // The command is not tuned.
  'information-only': 'only information is asked for',
  'command-unclear': 'the command line is not understood',
  'output-descriptor': 'the output is a descriptor',
  'own-tuning': 'the command has its own tuning flag',
  'partial-compile': 'the command stops early, starts late or does not compile',
  'setting-invalid': 'a setting cannot be used',
  'internal-error': 'tuning failed',

  // The input is not tuned.
  'input-not-a-file': 'the input is not a plain file',
  'input-unreadable': 'the input cannot be read',
  'input-too-large': 'the input is too large',
  'disabled-by-comment': 'a comment in the input disables tuning',
  'own-devices': 'the input names its own devices',
  'split-input': '--split-input-file is served for linalg text only',
  'own-preprocessing': 'a preprocessing spec of the user is served for linalg text only',
  'not-compiled': 'the compiler does not get as far as code generation',
  'nothing-to-tune': 'nothing to tune in the input',

  // The target or the device.
  'target-unknown': 'the target is not known',
  'several-targets': 'several targets of one backend, or for a command about one target',
  'backend-unsupported': 'no tuner for the backend yet',
  'device-missing': 'no device is known that measures for the target',
  'device-unsuitable': 'the device does not run code for the target',
  'other-device': 'the build is for another device',

  // An operation is skipped.
  'operation-unsupported': 'operations of this kind are not tuned yet',
  'operation-unclear': 'the operation is not understood',
  'body-unsupported': 'not a plain multiply-add',
  'form-unsupported': 'not a contraction of two operands',
  'layout-unsupported': 'the layout of the operands is not tuned yet',
  'type-unsupported': 'elements of this type are not tuned yet',
  'workload-unsupported': 'the backend tunes no workloads of this type or shape',
  'sizes-missing': 'dynamic dimensions without sizes to tune at',
  'other-sizes': 'it runs only in calls of other sizes than those of the setting dim',
  'too-many-sizes': 'dynamic dimensions with too many sizes',
  'own-configuration': 'the operation already has a configuration',
  'too-little-work': 'it does too little to matter',
  'not-generated': 'the compiler makes something else of it',
  'route-excludes': 'the route of the setting inject does not reach the operation',
  'dispatch-unsupported': 'such dispatches are not tuned',

  // An operation has no record.
  'no-record': 'there was no record',
  'tuning-off': 'no record, and tuning is off',
  'no-budget': 'no record, and the tuning budget is 0',
  'read-only': 'no record, and the database is read-only',
  'no-database': 'no tuning database',
  'budget-spent': 'the tuning budget is spent',
  'lock-busy': 'another process measured on this machine all the time',
  'machine-busy': 'the machine is too busy to measure',
  interrupted: 'tuning was interrupted',
  'tools-missing': 'iree-benchmark-module and iree-run-module are not found (pip install iree-base-runtime)',
  'cache-unwritable': 'nothing can be written to the cache folder',
  revoked: 'records of this machine are revoked',
  undecided: 'an earlier search could not decide',
  'no-certain-gain': 'runs of its program showed no certain gain',
  'job-pending': 'workers have not come to it yet; the same command follows them',
  frozen: 'it is not in the lock file, and IREE_TUNED_FROZEN=1 allows nothing else',

  // An operation has a decision.
  faster: 'faster than the default',
  'default-best': 'the default is best',
  'search-unfinished': 'nothing faster yet; a build or iree-tuned tune goes on',
  'program-wide': 'faster with the same configuration for all operations of the program',
  locked: 'the lock file decides',
  'not-applied': 'no executable has the configuration',
  'worse-in-program': 'its configuration makes this program worse',
  'unproven-in-program': 'the program was not run, and its configuration may make other operations slower',

  // Nothing is injected, or the compile is repeated without tuning.
  'no-gain': 'no operation has a configuration better than the default',
  'no-route': 'no route can carry the configurations',
  'not-substitutable': 'no executable can be substituted',
  'broke-before': 'these configurations broke this compile before',
  'tuned-compile-failed': 'the tuned compile failed',
  'tuned-compile-hung': 'the tuned compile hung',
  'input-does-not-compile': 'the input does not compile',
  'required-missing': 'an operation has no record, and the setting require wants one',

  // The program was not verified.
  'not-run': 'the program was not run',
  'no-run-time': 'the budget leaves too little time to run it',
  'no-time': 'there was no time to find out whether it is slower',
  'nothing-callable': 'none of its functions can be run',
  'not-callable': 'the function cannot be called',
  'data-unusable': 'the program cannot take the data of the setting input',
  'not-timed': 'the function was not timed',
  'results-unknown': 'its results cannot be compared',
  'results-differ': 'its results are different',
  'compile-failed': 'a compile of the program failed or took too long',

  // Other forms of the program.
  'forms-better': 'the program is faster in other forms',
  'forms-worse': 'the program is not faster in other forms',
  'forms-unknown': 'nobody has found out whether the program is better in them',
} as const;

export type ReasonCode = keyof typeof REASONS;

/** Why something is as it is. */
export interface Reason {
  readonly code: ReasonCode;
  /** One sentence or half a sentence for people. */
  readonly reason: string;
}

/** A reason. @param text the meaning of the code by default */
export const because = (code: ReasonCode, text: string = REASONS[code]): Reason => ({ code, reason: text });

/** Fields of a result without a reason. */
export const NO_REASON = { code: null, reason: null } as const;

export const cacheUnwritable = (folder: string): Reason =>
  because('cache-unwritable', `nothing can be written to the cache folder ${folder}`);

export const isCode: Check = (value) => typeof value === 'string' && Object.hasOwn(REASONS, value);

/** Whether a function gave a reason in place of its result. */
export const isReason = <T extends object>(result: T): result is Extract<T, Reason> => 'code' in result;

/** Whether a value, of a cache file say, is a reason. */
export const isReasonData = hasFields<Reason>({ code: isCode, reason: isText });

/** A counted reason for people. Earlier versions counted texts, which stay as they are. */
export const meaningOf = (counted: string): string =>
  isCode(counted) ? `${counted}: ${REASONS[counted as ReasonCode]}` : counted;
