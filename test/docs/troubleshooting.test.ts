// The headings of docs/troubleshooting.md are messages of the program.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { acquireMeasuringLock } from '../../src/site/measuring-lock.ts';
import { toStoreError } from '../../src/store/errors.ts';
import { REASONS, type ReasonCode } from '../../src/system/reason.ts';
import { refuseRecursion } from '../../src/system/recursion.ts';
import { tuneWorkloads } from '../../src/tuning/tune-workloads.ts';
import { KeptModules } from '../../src/plan/kept-modules.ts';
import { verifiedDecisions } from '../../src/running/verified-decisions.ts';
import { open, temporaryPath } from '../store/support.ts';
import { SPACE } from '../support/backend.ts';
import { root, temporaryDirectory } from '../support/folders.ts';
import { commandOf, inputOf, siteOf, surroundingsOf } from '../support/inspected.ts';
import { matmul } from '../support/workloads.ts';
import { fakeTools } from '../tuning/fake-tools.ts';

const read = (...path: readonly string[]) => readFileSync(join(root, ...path), 'utf8');
const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
/** `…` stands for any text. */
const patternOf = (heading: string) => new RegExp(heading.split('…').map(escaped).join('[^\\n]*'));

const headings = [...read('docs', 'troubleshooting.md').matchAll(/^### `(.*)`$/gm)].map(([, one]) => one!);

const storeError = (code: string) => {
  const context = { path: 'tuning.db', readonly: false, busyTimeoutMs: 1 };
  return toStoreError(Object.assign(new Error(), { code }), context).message;
};

/** The reason for an untuned matmul if the benchmark tool never ends. */
async function whyNotTuned(code: ReasonCode, surroundings = surroundingsOf()): Promise<string> {
  const tools = fakeTools(temporaryDirectory(), { benchmarkModule: 'exec sleep 600' });
  const work = { key: 'key', workload: matmul(61, 67, 71), count: 1, options: SPACE };
  const site = siteOf({ executable: tools.compiler });
  const { whyNot } = await tuneWorkloads([work], open(temporaryPath()), site, tools, surroundings, {
    ...{ budgetSeconds: 4, patienceSeconds: 0, givenSeconds: 1, signal: new AbortController().signal },
  });
  expect(whyNot.code).toBe(code);
  return whyNot.reason;
}

/** Messages of functions that this file can call. */
const SAID: Readonly<Record<string, () => string | Promise<string>>> = {
  'the real iree-compile that was found calls iree-compile-tuned again': () => {
    try {
      refuseRecursion({ IREE_TUNED_DEPTH: '2' });
      return '';
    } catch (error) {
      return String(error);
    }
  },
  '--… may write a file': () => commandOf('in.mlir', '--plugin-option=x').whyUntouched!.reason,
  'is locked by another process': () => storeError('SQLITE_BUSY'),
  'is damaged': () => storeError('SQLITE_CORRUPT'),
  'cannot be written': () => storeError('SQLITE_FULL'),
  'another process measured on this machine all the time': async () => {
    const surroundings = surroundingsOf();
    const lock = await acquireMeasuringLock(surroundings, 1);
    const said = await whyNotTuned('lock-busy', surroundings);
    lock!.release();
    return said;
  },
  'the machine is too busy to measure': () => whyNotTuned('machine-busy'),
  'the program was not run': async () => {
    const log = join(temporaryDirectory(), 'log');
    const inspected = { input: inputOf(''), site: siteOf() };
    const program = {
      ...{ command: commandOf('in.mlir'), inspected, decisions: [] },
      ...{ identity: '', memory: null, variant: new Map() },
    };
    const plan = { identity: 'plan', injection: { route: 'spec' } } as Parameters<
      typeof verifiedDecisions
    >[1];
    const surroundings = { ...surroundingsOf({ log }), cacheDirectory: '/dev/null/cache' };
    const means = { store: open(temporaryPath()), surroundings, kept: new KeptModules() };
    await verifiedDecisions(program, plan, null, means);
    return readFileSync(log, 'utf8');
  },
};

/** Other messages, by the test that expects them. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  'cli/no-database': ['there is no tuning database …'],
  'cli/team': ['no team is set'],
  'compiler/launcher-nodes': ['no Node 22.15 or newer that runs'],
  'decision/decision': ['nothing faster yet; a build or iree-tuned tune goes on'],
  'decision/for-device': ['is no device of the tuning database'],
  'scenarios/devices': ['is on a network disk'],
  'scenarios/faults/compiler': ['a tuned compile failed and was done again without tuning'],
  'scenarios/faults/database': [
    'was written by a newer iree-compile-tuned',
    'is a SQLite database of another program',
    'is a copy from before',
    'has a schema that this program does not make',
  ],
  'scenarios/faults/process': ["too many for Node's memory"],
  'scenarios/lock': ['there is no lock file …'],
  'scenarios/settings': ['is not a setting'],
  'scenarios/tuned': [
    'cannot find the real iree-compile',
    'the input cannot be read',
    'is a folder: name a file with MLIR in it',
    'no record matches "…": iree-tuned db ls lists the records',
    'the tuning budget is spent',
  ],
  'settings/resolve': ['…: it takes …', 'is ignored: …'],
  'system/unkillable': ['does not end, even by SIGKILL'],
  'wrapper/build': ['iree-benchmark-module and iree-run-module are not found'],
};

/** Messages that are the text of a reason. */
const OF_REASONS = (['nothing-to-tune', 'disabled-by-comment', 'own-devices'] as const).map(
  (code) => REASONS[code],
);

test('every heading is a message, each once', () => {
  const messages = [...Object.keys(SAID), ...Object.values(EXPECTED).flat(), ...OF_REASONS];
  expect(headings.toSorted()).toEqual(messages.toSorted());
});

test.each(Object.entries(SAID))('%s is said', async (heading, said) => {
  expect(await said()).toMatch(patternOf(heading));
});

test.each(Object.entries(EXPECTED))('%s.test.ts expects its messages of the page', (name, messages) => {
  // Comments and names of tests do not count. A regular expression counts as its text.
  const expectations = read('test', `${name}.test.ts`)
    .replaceAll(/^ *(?:\/\/|\/?\*|(?:test|it|describe)\b).*$/gm, '')
    .replaceAll(/['`] \+\n\s*['`]/g, '')
    .replaceAll(/\\([.()/])/g, '$1');
  expect(messages.filter((message) => !patternOf(message).test(expectations))).toEqual([]);
});

/** Messages of PostgreSQL, its driver and OpenSSL. */
const OF_OTHERS =
  /^(?:connect ECONNREFUSED|password authentication failed|self-signed certificate|The server does not support|permission denied for)/;

test('the messages of docs/team.md are in the code', () => {
  const code = globSync(['src/**/*.ts'], { cwd: root })
    .map((path) => read(path).replaceAll(/['`] \+\n\s*['`]/g, ''))
    .join('\n');
  const table = read('docs', 'team.md').split('## Messages\n')[1]!;
  const messages = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, message]) => message!);
  expect(messages.length).toBeGreaterThan(4);
  // A message may consist of a text and its reason.
  const parts = messages.flatMap((message) => message.split(/…|: |[()]/).map((part) => part.trim()));
  const ours = parts.filter((part) => part.length > 3 && !OF_OTHERS.test(part));
  expect(ours.filter((part) => !code.includes(part))).toEqual([]);
});
