// The wrapper's own flags on the compiler's command line.
import { DEFINITIONS, isName, type Name } from './settings.ts';

/** Removes the wrapper's flags from a command line: `--iree-tuned-budget=10`, `--iree-tuned-budget 10`, `--iree-tuned-disable`. */
export function splitFlags(argv: readonly string[]): { given: ReadonlyMap<Name, string>; rest: string[] } {
  const given = new Map<Name, string>();
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    // Arguments after `--` are positional.
    if (argument === '--') return { given, rest: [...rest, ...argv.slice(i)] };
    const match = /^--?iree-tuned-([a-z-]+)(?:=([^]*))?$/.exec(argument);
    const name = match?.[1] ?? '';
    // The compiler reports an unknown flag.
    if (!isName(name)) rest.push(argument);
    else if (DEFINITIONS[name].type === 'boolean') given.set(name, match![2] ?? '1');
    else {
      const text = match![2] ?? argv[++i] ?? '';
      // `dim` may repeat, once for each kind of dimension.
      given.set(name, name === 'dim' && given.has(name) ? `${given.get(name)!} ${text}` : text);
    }
  }
  return { given, rest };
}
