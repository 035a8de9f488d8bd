import { describe, expect, test } from 'vitest';
import { withCurrentNames } from '../../src/cli/old-names.ts';
import { parsed } from '../support/command-lines.ts';

const words = (text: string) => (text === '' ? [] : text.split(' '));

describe('an old command line runs the current command', () => {
  test.each([
    ['populate models/ --budget 8h', 'tune models/ --budget 8h'],
    ['records m=512 --json', 'db ls m=512 --json'],
    ['show m=512 --all', 'db show m=512 --all'],
    ['trials m=512 --csv', 'db trials m=512 --csv'],
    ['export all.jsonl --sqlite', 'db export all.jsonl --sqlite'],
    ['import all.jsonl', 'db import all.jsonl'],
    ['merge other.db', 'db import other.db'],
    ['prune --records --workload m=4', 'db prune --records --workload m=4'],
    ['revoke --tool 0.1.0 --reason x', 'db revoke --tool 0.1.0 --reason x'],
    ['restore --origin ada', 'db restore --origin ada'],
    ['lift m=512 --reason x', 'db restore --marks m=512 --reason x'],
    [
      'lift --reason x --configuration y --json m=512',
      'db restore --marks m=512 --reason x --configuration y --json',
    ],
    ['verify --budget 120', 'db verify --budget 120'],
    ['regressions 3.12 3.13 --compiler cc', 'db regressions 3.12 3.13 --compiler cc'],
    ['devices zen4', 'device ls zen4'],
    ['devices --name prod', 'device name prod'],
    ['devices zen4 --name prod --json', 'device name prod zen4 --json'],
    ['devices --name=prod zen4', 'device name prod zen4'],
    ['builds', 'stats --last'],
    ['builds --last 5', 'stats --last --last 5'],
    ['install-shim dir', 'shim dir'],
    ['sync', 'team sync'],
    ['worker --drain 60', 'team worker --drain 60'],
    ['fleet --retry', 'team queue --retry'],
    ['team distrust bob', 'team block bob'],
    ['team trust bob', 'team unblock bob'],
    ['--db a.db records', 'db ls --db a.db'],
    ['--db=a.db --team x records', 'db ls --db=a.db --team x'],
  ])('%s', async (old, now) => {
    const { argv, hint } = withCurrentNames(words(old));
    expect(argv.toSorted()).toEqual(words(now).toSorted());
    expect(hint).toMatch(/^iree-tuned \S.* is now iree-tuned \S/);
    expect(await parsed(argv)).toBe(await parsed(words(now)));
  });
});

test.each([
  ['records --compiler 3.13', 'db ls --with-compiler 3.13'],
  ['--device=zen4 records', 'db ls --on-device=zen4'],
  ['lift m=4 --target gpu --reason x', 'db restore --marks m=4 --for-target gpu --reason x'],
  ['report --target gpu', 'report --for-target gpu'],
])('%s keeps its filter', (old, now) => {
  const { argv, hint } = withCurrentNames(words(old));
  expect(argv).toEqual(words(now));
  expect(hint).toMatch(/--\w+ is now --[\w-]+$/);
});

test.each(['', '--version', 'tune records', '--db show tune x', 'team status', 'device ls', 'report m=512'])(
  '"%s" has no old name',
  (line) => {
    expect(withCurrentNames(words(line))).toEqual({ argv: words(line), hint: null });
  },
);
