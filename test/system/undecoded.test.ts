// @module-tag slow
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { startable } from '../../src/system/undecoded.ts';
import { seededRandom } from '../../src/search/strategy.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { root } from '../compiler/support.ts';

const directory = temporaryDirectory();
/** A native program that prints its arguments, each with a trailing zero byte. */
const print = ['/usr/bin/printf', '/bin/printf'].find(existsSync) ?? '';

/** Starts a process with arguments and variables in bytes, through a shell. */
function startWithBytes(
  argv: readonly string[],
  bytes: readonly Uint8Array[],
  variables: Readonly<Record<string, Uint8Array>> = {},
) {
  const octal = (value: Uint8Array) =>
    [...value].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  const text = (value: Uint8Array) => `"$(printf '${octal(value)}.')"`;
  const lines = [
    ...Object.entries(variables).map(
      ([name, value]) => `${name}=${text(value)}; export ${name}="\${${name}%.}"`,
    ),
    ...bytes.map((value) => `x=${text(value)}; set -- "$@" "\${x%.}"`),
    'exec "$@"',
  ];
  const script = join(directory, 'start.sh');
  writeFileSync(script, lines.join('\n'));
  return spawnSync('sh', [script, ...argv], { env: { PATH: process.env['PATH'] } });
}

/** A Node program that passes its arguments and environment on, like the wrapper. */
const handOver = (() => {
  const file = join(directory, 'main.mjs');
  const module = (name: string) => JSON.stringify(join(root, 'src/system', name));
  writeFileSync(
    file,
    `import { readProcess } from ${module('undecoded.ts')};
import { replaceProcess } from ${module('run.ts')};
const { argv: [executable, ...argv], env } = readProcess();
await replaceProcess(executable, argv, env);`,
  );
  return [process.execPath, '--disable-warning=ExperimentalWarning', file];
})();

const zeroTerminated = (values: readonly Uint8Array[]) =>
  Buffer.concat(values.flatMap((value) => [value, Buffer.of(0)]));

describe('arguments that are not UTF-8', () => {
  test.each<[string, Buffer]>([
    ['one byte', Buffer.of(0xe9)],
    ['a path', Buffer.from('/home/Jos\xe9/in.mlir', 'latin1')],
    ['among UTF-8', Buffer.concat([Buffer.from('é💡'), Buffer.of(0xff), Buffer.from('€')])],
    ['half a character', Buffer.from('💡').subarray(0, 3)],
    ['a surrogate in bytes', Buffer.of(0xed, 0xa0, 0x80)],
    ['a replacement character that was typed', Buffer.from('\ufffd')],
    ['escapes of printf', Buffer.from('-%s\\n\\\\%%\xe9', 'latin1')],
    ['newlines at the end', Buffer.from('\xe9\'"$x`*\n\n', 'latin1')],
  ])('arrive: %s', (_, value) => {
    const sent = [Buffer.from('plain'), value, Buffer.alloc(0), Buffer.from('printf:x'), Buffer.from('.')];
    const run = startWithBytes([...handOver, print, '%s\\0'], sent);
    expect([run.status, run.stderr.toString()]).toEqual([0, '']);
    expect(run.stdout).toEqual(zeroTerminated(sent));
  });
  it('arrive for any bytes', () => {
    const random = seededRandom(1);
    const sent = Array.from({ length: 300 }, () =>
      Uint8Array.from({ length: Math.floor(random() * 12) }, () => 1 + Math.floor(random() * 255)),
    );
    expect(startWithBytes([...handOver, print, '%s\\0'], sent).stdout).toEqual(zeroTerminated(sent));
  });
  it('do not affect variables or UTF-8 arguments', () => {
    const variables = {
      LATIN: Buffer.from('caf\xe9%\n', 'latin1'),
      UNICODE: Buffer.from('é'),
      text: Buffer.from('x'),
    };
    const run = startWithBytes([...handOver, '/usr/bin/env', '-0'], [], variables);
    const got = run.stdout.toString('latin1').split('\0');
    for (const [name, value] of Object.entries(variables))
      expect(got).toContain(`${name}=${value.toString('latin1')}`);
    expect(got).toContain('IREE_TUNED_DEPTH=1');
  });
  it('preserve exit code and process id', () => {
    const run = startWithBytes(
      [
        ...handOver,
        '/bin/sh',
        '-c',
        'printf "%s" "$2"; [ "$PPID" = "$1" ] && exit 7',
        'sh',
        String(process.pid),
      ],
      [Buffer.of(0xe9)],
    );
    expect([run.status, run.stdout]).toEqual([7, Buffer.of(0xe9)]);
  });
});

describe('the started command', () => {
  it('is unchanged if all texts are valid', () => {
    const start = startable('/x', ['é', '\ufffd', '', 'printf:'], { A: 'ü', B: undefined });
    expect(start).toEqual({ executable: '/x', argv: ['é', '\ufffd', '', 'printf:'], env: { A: 'ü' } });
  });
  test.for(['dash', 'bash'])('works under %s', (shell, { skip }) => {
    const argv = ['%s\\0', 'a\udce9b', '', 'printf:%d', '-n \\', 'é\n'];
    const start = startable(print, argv, { V: '\udcff' });
    const run = spawnSync(shell, start.argv, { env: start.env });
    if (isWithout(run.error === undefined ? null : `${shell} is not installed`)) skip();
    expect(run.stdout.toString('latin1').split('\0')).toEqual([
      'a\xe9b',
      '',
      'printf:%d',
      '-n \\',
      Buffer.from('é\n').toString('latin1'),
      '',
    ]);
  });
});
