// Our own flags on the compiler's command line.
import { DEFINITIONS, isName, type Name } from './settings.ts';

/** Takes our own flags out of a command line: `--iree-tuned-budget=10`, `--iree-tuned-budget 10`, `--iree-tuned-disable`. */
export function splitFlags(argv: readonly string[]): { given: ReadonlyMap<Name, string>; rest: string[] } {
  const given = new Map<Name, string>();
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    // What follows `--` is positional, whatever it looks like.
    if (argument === '--') return { given, rest: [...rest, ...argv.slice(i)] };
    const match = /^--?iree-tuned-([a-z-]+)(?:=([^]*))?$/.exec(argument);
    const name = match?.[1] ?? '';
    // An unknown one is left for the compiler to complain about, as it does about any flag that it does not know.
    if (!isName(name)) rest.push(argument);
    else if (DEFINITIONS[name].type === 'boolean') given.set(name, match![2] ?? '1');
    else {
      const text = match![2] ?? argv[++i] ?? '';
      // Sizes add up, one flag for each kind of dimension.
      given.set(name, name === 'dim' && given.has(name) ? `${given.get(name)!} ${text}` : text);
    }
  }
  return { given, rest };
}
