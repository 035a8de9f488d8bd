// Preserves arguments and variables that are not UTF-8, which Node can neither read nor pass on. An invalid byte becomes a lone surrogate
// U+DC80 to U+DCFF in a string. To start a program, a shell converts it back.
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import type { Environment } from './recursion.ts';

/** The replacement character: Node's sign for an invalid byte, or a user's own. */
const LOST = '\ufffd';

/** The arguments of this process after the program's name, and its environment, without loss. Only Linux gives the bytes. */
export function readProcess(): { readonly argv: readonly string[]; readonly env: Environment } {
  const argv = process.argv.slice(2);
  const { env } = process;
  const isWhole = (texts: readonly (string | undefined)[]) => texts.every((text) => !text?.includes(LOST));
  if (isWhole(argv) && isWhole(Object.values(env))) return { argv, env };
  try {
    const texts = (name: string) =>
      readFileSync(`/proc/self/${name}`, 'latin1')
        .replace(/\0$/, '')
        .split('\0')
        .map((bytes) => decode(Buffer.from(bytes, 'latin1')));
    const variables = texts('environ').flatMap((text): [string, string][] => {
      const equals = text.indexOf('=');
      return equals < 0 ? [] : [[text.slice(0, equals), text.slice(equals + 1)]];
    });
    return {
      argv: argv.length === 0 ? [] : texts('cmdline').slice(-argv.length),
      env: Object.fromEntries(variables),
    };
  } catch {
    return { argv, env };
  }
}

/** The command to start for texts with invalid bytes; the command itself without them. */
export function startable(
  executable: string,
  argv: readonly string[],
  env: Environment,
): { readonly executable: string; readonly argv: readonly string[]; readonly env: Record<string, string> } {
  const variables = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const bytes = variables.filter(([name, value]) => !value.isWellFormed() && /^[A-Za-z_]\w*$/.test(name));
  const plain = Object.fromEntries(variables);
  if (bytes.length === 0 && argv.every((text) => text.isWellFormed()))
    return { executable, argv, env: plain };
  const pairs = bytes.flatMap(([name, value]) => [name, printfFormat(value)]);
  // An argument that begins like a mark needs a mark, too.
  const marked = argv.map((text) =>
    text.isWellFormed() && !text.startsWith(MARK) ? text : `${MARK}${printfFormat(text)}`,
  );
  return {
    executable: '/bin/sh',
    argv: ['-c', SCRIPT, executable, ...pairs, '.', ...marked],
    env: plain,
  };
}

const MARK = 'printf:';

/**
 * Reads pairs of a variable's name and value up to `.`, then the arguments. The point in each format protects a final newline from the
 * command substitution.
 */
const SCRIPT = `
while [ "$1" != . ]; do
  my_text=$(printf -- "$2.")
  export "$1=\${my_text%.}"
  shift 2
done
shift
for my_text do
  shift
  case $my_text in
    ${MARK}*) my_text=$(printf -- "\${my_text#${MARK}}."); my_text=\${my_text%.} ;;
  esac
  set -- "$@" "$my_text"
done
unset my_text
exec "$0" "$@"`;

/** A printf format that prints a text with its invalid bytes. */
function printfFormat(text: string): string {
  return text
    .replace(/[\\%]/g, (special) => special + special)
    .replace(/[\udc80-\udcff]/gu, (byte) => `\\${(byte.charCodeAt(0) - 0xdc00).toString(8)}`);
}

function decode(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const length = [1, 2, 3, 4].find(
      (count) => at + count <= bytes.length && isUtf8(bytes.subarray(at, at + count)),
    );
    text +=
      length === undefined
        ? String.fromCharCode(0xdc00 + bytes[at]!)
        : bytes.toString('utf8', at, at + length);
    at += length ?? 1;
  }
  return text;
}
