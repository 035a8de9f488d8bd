import { describe, expect, test } from 'vitest';
import { isDisabledByComment } from '../../src/input/scan.ts';

const isDisabled = (text: string) => isDisabledByComment(Buffer.from(text));
const comment = '// iree-tuned: disable';

describe('an input is not tuned', () => {
  test.each([
    comment,
    `${comment}\n`,
    `${comment}\r\nmodule {}`,
    `\n\t  ${comment}  \nmodule {}`,
    '//iree-tuned:disable\n',
    `module {\n${comment}\n}`,
    `${'x'.repeat(4096 - comment.length - 2)}\n${comment}\n${'x'.repeat(100)}`,
  ])('with %j', (text) => {
    expect(isDisabled(text)).toBe(true);
  });
});

describe('an input is tuned', () => {
  test.each([
    '',
    `module {} ${comment}`,
    `/${comment}`,
    `${comment}d\n`,
    `${comment} in this function\n`,
    '// IREE-tuned: disable\n',
    '# iree-tuned: disable\n',
    `${'x'.repeat(4096 - comment.length)}\n${comment}\n`,
    // The cut-off line would match the comment.
    `${'x'.repeat(4096 - comment.length - 1)}\n${comment}d\n`,
  ])('with %j', (text) => {
    expect(isDisabled(text)).toBe(false);
  });

  test('in a larger buffer, with the comment before its bytes', () => {
    const all = Buffer.from(`${comment}\nmodule {}`);
    expect(isDisabledByComment(all.subarray(comment.length + 1))).toBe(false);
  });
});
