import { expect, test } from 'vitest';
import { shellWord } from '../../src/system/shell-word.ts';
import { readAddress } from '../../src/runner/address.ts';
import { shellCommand, unreachable } from '../../src/runner/shell.ts';

test.each([
  ['ssh://pi@board', { kind: 'ssh', host: 'pi@board', port: null }],
  ['ssh://10.0.0.7:2222/', { kind: 'ssh', host: '10.0.0.7', port: '2222' }],
  ['ssh://[fe80::1]:22', { kind: 'ssh', host: 'fe80::1', port: '22' }],
  ['adb://', { kind: 'adb', serial: null }],
  ['adb://192.168.1.5:5555', { kind: 'adb', serial: '192.168.1.5:5555' }],
  ['qemu-aarch64  -L /root', { kind: 'command', words: ['qemu-aarch64', '-L', '/root'] }],
])('%s', (text, address) => {
  expect(readAddress(text)).toEqual(address);
});

test.each([
  '',
  ' ',
  'ssh://',
  'ssh://-oProxyCommand=x',
  'ssh://a@-b',
  'ssh://a b',
  'ssh://a;b',
  'http://board',
  'adb://-x',
])('%j is refused', (text) => {
  expect(readAddress(text)).toBeUndefined();
});

test('a host cannot be an option of ssh, which asks no questions', () => {
  const argv = shellCommand({ kind: 'ssh', host: 'board', port: '2222' }, '/cache', 'true');
  expect(argv.slice(-5)).toEqual(['-p', '2222', '--', 'board', 'true']);
  expect(argv).toContain('BatchMode=yes');
  // A socket's path has at most a hundred bytes.
  const long = shellCommand({ kind: 'ssh', host: 'board', port: null }, `/${'x'.repeat(90)}`, 'true');
  expect(long).not.toContain('-S');
});

test('words are quoted for the shell', () => {
  expect(['--input=2x3xf32=@a.bin', "it's", '$(x)', ''].map(shellWord)).toEqual([
    '--input=2x3xf32=@a.bin',
    `'it'\\''s'`,
    `'$(x)'`,
    `''`,
  ]);
});

test.each([
  ['Host key verification failed.', /does not answer .*its key is not known here.*ssh -- board true/],
  ['me@board: Permission denied (publickey).', /ssh-copy-id -- board/],
  ['ssh: connect to host board port 22: No route to host', /No route to host.*ssh -- board true shows more/],
])('%s', (messages, reason) => {
  expect(unreachable('ssh://board', { kind: 'ssh', host: 'board', port: null }, messages)).toMatch(reason);
});
