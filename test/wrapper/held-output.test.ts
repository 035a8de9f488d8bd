// A new plan writes to a scratch file first.
import { chmodSync, lstatSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planPlace } from './plan-place.ts';

/** Builds with a new plan. The output is a link. @param deed shell code of the tuned compile, with the output in `$out` */
function build(deed: string) {
  const { folder, read, build } = planPlace(
    `for a; do case $before in -o) out=$a ;; esac; before=$a; done
     case $* in *--spec*) ${deed} ;; *) printf original >"$out" ;; esac`,
    { output: 'link.vmfb' },
  );
  const target = join(folder, 'target.vmfb');
  writeFileSync(target, 'before');
  chmodSync(target, 0o640);
  symlinkSync('target.vmfb', join(folder, 'link.vmfb'));
  const { status } = build();
  const isLink = lstatSync(join(folder, 'link.vmfb')).isSymbolicLink();
  return { status, text: read('target.vmfb'), mode: statSync(target).mode & 0o777, isLink };
}

test('a tuned output replaces the content and keeps link and mode', () => {
  expect(build('printf tuned >"$out"')).toEqual({ status: 0, text: 'tuned', mode: 0o640, isLink: true });
});

test.each(['rm -f "$out"; exit 1', 'printf part >"$out"; kill -KILL $$', 'exit 0'])(
  'a failed tuned compile (%s) leaves link and mode to the original compile',
  (deed) => {
    expect(build(deed)).toEqual({ status: 0, text: 'original', mode: 0o640, isLink: true });
  },
);
