// The table of docs/settings.md is made from the definitions: `npx vitest run test/docs/settings.test.ts -u` writes it into the page.
import { expect, test } from 'vitest';
import { resolveSettings } from '../../src/settings/resolve.ts';
import { DEFINITIONS, NAMES, type Name } from '../../src/settings/settings.ts';
import { code, pageWith, table } from './tables.ts';

const MEANINGS: Readonly<Record<Name, string>> = {
  db: 'tuning database',
  compiler: 'real compiler; without this setting it is [searched for](install.md#the-compiler)',
  'on-miss': '`tune`: tune misses; `default`: compile without tuning; `record`: also note the miss for later',
  budget: 'limit of tuning for each compile, and for `iree-tuned tune` of one input',
  inject: '[route](#routes) of configurations to the compiler',
  dim: '[sizes](#dynamic-sizes) of dynamic dimensions',
  input: '[your own data](#your-own-data) for runs of the program',
  'max-input':
    "limit of [generated data](#your-own-data) for a call; by default a quarter of the machine's memory",
  device:
    "driver to measure on: `local-task` (all cores), `local-sync` (one thread), `vulkan`, `vulkan://1`, ...; by default the target's: `local-task` for a CPU, `vulkan` for Vulkan",
  runner:
    'where programs run to be measured, if not on this machine: a [board or a phone](devices.md), or an emulator',
  'runner-tools':
    'folder there with `iree-run-module` and `iree-benchmark-module`, or a wheel here that is unpacked there; by default its shell finds them',
  'runner-cpus': 'its processors that run programs, for boards with fast and slow ones; by default all',
  'for-device': '[device](#devices) that the build is for, if it is not this machine',
  trust:
    "`class` also uses records of the device's class, and of other builds of the compiler, where nothing is measured",
  require: '[fail](#required-tuning) instead of falling back',
  disable: 'run plain `iree-compile`',
  readonly: 'never write to the database',
  explain: 'file for the JSON about every decision',
  log: 'log file',
  cache:
    'folder for data that can be made again; it must belong to the user, and no other user may write to it',
  outputs:
    'use the output cache (2 GiB at most): a repeated build copies its output and repeats its messages. `iree-tuned cache --forget INPUT` removes the plans and outputs of one input',
  lock: '[lock file](build.md#lock-files); by default the nearest one, up to the folder of the project’s file',
  frozen: 'decide by the [lock file](build.md#lock-files) only',
  team: "team's [base](team.md): a folder or a web server; several in their order",
  'team-key': 'only a base that this key has signed is used',
  'team-token': 'command that prints a token for a web server, such as `gcloud auth print-access-token`',
  'team-publish':
    '`inbox`: new records and misses go to the inbox of the base; `now`: they are also published at once, in a folder without a key',
  author:
    'name in your new records and marks, in place of your login; records from before keep theirs, and the name of the machine stays',
  fleet: "queue of the [fleet's](team.md#a-fleet) jobs",
};

test('the table has every setting with its values and default', async () => {
  const { origins } = resolveSettings({
    ...{
      env: {},
      flags: new Map(),
      flagPrefix: '',
      files: [],
      home: '/',
      parse: () => ({ entries: [], problem: null }),
    },
    ...{ realPath: () => null, mayOverwrite: () => false },
    defaults: {
      database: '~/.local/share/iree-tuned/tuning.db',
      cache: '~/.cache/iree-tuned',
      lock: 'iree-tuned.lock',
    },
  });
  const defaultOf = (name: Name) => {
    const { value } = origins.find((origin) => origin.name === name)!;
    return value === undefined || value === '' ? 'none' : code(String(value));
  };
  const rows = NAMES.map((name) => [code(name), DEFINITIONS[name].takes, defaultOf(name), MEANINGS[name]]);
  const settings = table(['setting', 'values', 'default', 'meaning'], rows);
  const { path, text, placed } = pageWith('docs/settings.md', { settings });
  expect(placed).toEqual(['settings']);
  await expect(text).toMatchFileSnapshot(path);
});
