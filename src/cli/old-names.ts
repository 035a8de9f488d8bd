// Command lines of version 0.1: the old names work for one more release.

const RENAMED: Readonly<Record<string, string>> = {
  populate: 'tune',
  records: 'db ls',
  show: 'db show',
  trials: 'db trials',
  export: 'db export',
  import: 'db import',
  merge: 'db import',
  prune: 'db prune',
  revoke: 'db revoke',
  restore: 'db restore',
  lift: 'db restore --marks',
  verify: 'db verify',
  regressions: 'db regressions',
  devices: 'device ls',
  'devices --name': 'device name',
  builds: 'stats --last',
  'install-shim': 'shim',
  sync: 'team sync',
  worker: 'team worker',
  fleet: 'team queue',
  'team distrust': 'team block',
  'team trust': 'team unblock',
};

/** Commands whose filters had the names of `RENAMED_FILTERS`. */
const FILTERED = ['records', 'show', 'trials', 'export', 'prune', 'lift', 'report'];

const RENAMED_FILTERS: Readonly<Record<string, string>> = {
  '--target': '--for-target',
  '--compiler': '--with-compiler',
  '--device': '--on-device',
};

/** A command line in current names. */
export interface Renamed {
  readonly argv: readonly string[];
  /** A sentence about the new names; null without old names. */
  readonly hint: string | null;
}

/** @param argv without flags of the compiler */
export function withCurrentNames(argv: readonly string[]): Renamed {
  const at = operandAt(argv, ['--db', '--compiler', '--device', '--team']);
  const command = argv[at];
  if (command === undefined) return { argv, hint: null };
  const pair = `${command} ${argv[at + 1] ?? ''}`;
  let rest = argv.toSpliced(at, pair in RENAMED ? 2 : 1);
  let old = pair in RENAMED ? pair : command;
  if (command === 'devices') {
    const named = valueFirst(rest, '--name');
    if (named !== null) [rest, old] = [named, 'devices --name'];
  }
  if (command === 'lift') {
    const workload = operandAt(rest, [
      '--configuration',
      '--reason',
      '--db',
      '--team',
      ...Object.keys(RENAMED_FILTERS),
    ]);
    if (workload < rest.length) rest = [rest[workload]!, ...rest.toSpliced(workload, 1)];
  }
  const now = Object.hasOwn(RENAMED, old) ? RENAMED[old]! : old;
  const hints = now === old ? [] : [`iree-tuned ${old} is now iree-tuned ${now}`];
  if (FILTERED.includes(command))
    rest = rest.map((word) => {
      const [flag, ...value] = word.split('=');
      const renamed = Object.hasOwn(RENAMED_FILTERS, flag!) ? RENAMED_FILTERS[flag!]! : flag!;
      if (renamed !== flag) hints.push(`${flag!} is now ${renamed}`);
      return [renamed, ...value].join('=');
    });
  if (hints.length === 0) return { argv, hint: null };
  return { argv: [...now.split(' '), ...rest], hint: hints.join('; ') };
}

/** Index of the first word that is no option and no value of one; the length if there is none. */
function operandAt(argv: readonly string[], withValue: readonly string[]): number {
  let at = 0;
  while (argv[at]?.startsWith('-') === true) at += withValue.includes(argv[at]!) ? 2 : 1;
  return at;
}

/** The words with the value of an option in front, and without the option; null if the option is not there. */
function valueFirst(words: readonly string[], option: string): string[] | null {
  const at = words.findIndex((word) => word === option || word.startsWith(`${option}=`));
  if (at < 0) return null;
  const isJoined = words[at] !== option;
  const value = isJoined ? words[at]!.slice(option.length + 1) : (words[at + 1] ?? '');
  return [value, ...words.toSpliced(at, isJoined ? 1 : 2)];
}
