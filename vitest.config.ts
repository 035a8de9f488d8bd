import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isCI } from './test/support/needs.ts';
import { isInFull } from './test/support/tiers.ts';

const all = globSync(['grammar/test/**/*.test.ts', 'test/**/*.test.ts'], { cwd: import.meta.dirname });
const inFull = new Set(all.filter(isInFull));
const files = all.filter((file) => inFull.has(file) || !file.endsWith('.full.test.ts'));

/** Where the real compiler and runtime are looked for: a test file whose imports lead here cannot do without them. */
const REAL_TOOLS = 'test/support/installed-tools.ts';

function leadsToRealTools(file: string, seen = new Set<string>()): boolean {
  if (file === REAL_TOOLS) return true;
  if (seen.has(file) || !/^(?:grammar\/)?test\//.test(file)) return false;
  seen.add(file);
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  const imports = text.matchAll(/^(?:import|export|\}) .*'(\.[^']+)';$/gm);
  return [...imports].some(([, path]) => leadsToRealTools(join(dirname(file), path!), seen));
}

const quick = files.filter((file) => !leadsToRealTools(file));

/** Such a file has to be the first that loads the modules. */
const replacesModules = (file: string) =>
  readFileSync(join(import.meta.dirname, file), 'utf8').includes('vi.mock(');

/** Files with the compiler take longest: what is quick comes last, so that no worker waits for another one in the end. */
class LongFilesFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications);
    const isQuick = ({ project }: TestSpecification) => project.name.startsWith('quick');
    return [...sorted.filter((one) => !isQuick(one)), ...sorted.filter(isQuick)];
  }
}

const tagsOf = (isFull: boolean) => [
  { name: 'compiler', description: 'needs the real compiler, in a file of which the rest does not' },
  { name: 'slow', description: 'takes seconds: processes, servers, a browser, many cases' },
  {
    name: 'full',
    description: 'of the full tier only: other tests find most of what would break it',
    skip: !isFull,
  },
];

/** The projects of some files: one for those in full, and one for the others. */
function projectsOf(
  name: string,
  include: readonly string[],
  more: TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration[] {
  return [true, false].flatMap((isFull) => {
    const own = include.filter((file) => inFull.has(file) === isFull);
    if (own.length === 0) return [];
    const env = isFull ? { TEST_FULL: '1' } : {};
    const named = { name: isFull ? `${name}-full` : name, include: own };
    return [{ extends: true, test: { ...named, env, tags: tagsOf(isFull), ...more } }];
  });
}

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    // Scenario tests compile and measure, and wait for that: what two cores carry is a little more than two files at a time.
    maxWorkers: 4,
    // Loaded by Node itself, as it is everywhere else: rewritten for the runner, the parser is half as fast.
    server: { deps: { external: [/\/grammar\/src\//] } },
    sequence: { sequencer: LongFilesFirst },
    // Loading what is tested takes longer than most files: it is loaded once in each worker.
    isolate: false,
    setupFiles: 'test/support/each-file.ts',
    // The runner's own summary comes last.
    reporters: ['./test/support/slowest.ts', 'default', ...(isCI ? ['./test/support/skips.ts'] : [])],
    // Of the whole run: projects do not inherit it.
    globalSetup: ['test/support/one-postgres.ts', 'test/support/compiled-scripts.ts'],
    projects: [
      ...projectsOf(
        'quick',
        quick.filter((file) => !replacesModules(file)),
        { testTimeout: 60_000 },
      ),
      ...projectsOf('quick-isolated', quick.filter(replacesModules), { isolate: true, testTimeout: 60_000 }),
      ...projectsOf(
        'compiler',
        files.filter((file) => leadsToRealTools(file)),
        {
          globalSetup: 'test/support/ask-once.ts',
          // A busy machine takes its time. What a test waits for is not the clock.
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      ),
    ],
  },
});
