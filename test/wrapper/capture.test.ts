// A compile whose output goes to stdout, which a new plan captures first.
import { expect, test } from 'vitest';
import { planPlace } from './plan-place.ts';

/** @param deed shell code of the tuned compile */
function build(deed: string, redirection = '') {
  const place = planPlace(`case $* in *--spec*) ${deed} ;; *) printf original; echo warned >&2 ;; esac`, {
    before: `const peak = () => process.resourceUsage().maxRSS / 1024;
    const atStart = peak();
    process.on('exit', () => writeFileSync('mebibytes', String(peak() - atStart)));`,
  });
  const { status, stdout, stderr } = place.build(redirection);
  return { status, stdout, stderr, mebibytes: Number(place.read('mebibytes')) };
}

test('shows stdout and messages as they are', () => {
  expect(build("printf 'a\\0b'; echo warned >&2")).toMatchObject({
    ...{ status: 0, stdout: 'a\0b', stderr: 'warned\n' },
  });
});

test('leaves nothing of a failed compile', () => {
  expect(build('printf part; echo wrong >&2; exit 1')).toMatchObject({
    ...{ status: 0, stdout: 'original', stderr: 'warned\n' },
  });
});

test('needs no memory for stdout', () => {
  const { status, stdout, mebibytes } = build('head -c 400000000 /dev/zero', '| wc -c');
  expect({ status, stdout }).toEqual({ status: 0, stdout: '400000000\n' });
  expect(mebibytes).toBeLessThan(100);
});
