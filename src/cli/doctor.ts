// `iree-tuned doctor`
import { accessSync, constants } from 'node:fs';
import { describeCompiler } from '../compiler/describe.ts';
import { findRuntimeTool, type FoundCompiler } from '../compiler/find.ts';
import { askCompiler } from '../compiler/ask.ts';
import { deviceClass, deviceKey, type Device } from '../backend/device.ts';
import { makeFolder } from '../system/folder.ts';
import { hostCpu } from '../system/processor.ts';
import { HOST_FLAGS, probeTargets } from '../site/probe.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { printable, wrapped } from '../report/text.ts';
import { messageOf } from '../system/tell.ts';
import { fileSystemName, networkOf } from '../system/file-system.ts';
import { deviceFor } from '../decision/for-device.ts';
import { openAsFarAsPossible } from '../store/open.ts';
import { openExchange } from '../store/open-exchange.ts';
import type { Store } from '../store/store.ts';
import { withoutPassword } from '../settings/address.ts';
import { breakerState } from '../team/breaker.ts';
import { teamState } from '../team/state.ts';
import { counted } from '../system/format.ts';
import { CliCommand } from './command.ts';
import { compilerOf, describeDeviceHere, surroundingsOf } from './context.ts';
import { page, warn } from './output.ts';
import { withTeam } from './team/server.ts';

/** Limit of the question to the team's server. */
const TEAM_LIMIT_MS = 5000;

interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly found: string;
  /** How to fix it; null without a problem. */
  readonly remedy: string | null;
}

const good = (what: string, found: string): Finding => ({ what, ok: true, found, remedy: null });
const bad = (what: string, found: string, remedy: string): Finding => ({ what, ok: false, found, remedy });

export const doctor = new CliCommand(
  'doctor',
  'check the compiler, the runtime, the database and the team, and print a fix for each problem',
)
  .json()
  .examples(['iree-tuned doctor', 'all requirements of tuning'])
  .action(async (_, command: CliCommand) => {
    const surroundings = surroundingsOf(command);
    const findings = [
      checkNode(),
      ...(await checkCompiler(surroundings)),
      ...(await checkDatabase(surroundings)),
      checkCache(surroundings),
      ...(await checkTeam(surroundings)),
    ];
    command.print(findings, () => findings.flatMap(linesOf).join('\n'));
    if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
  });

const INDENT = ' '.repeat(16);

function linesOf({ what, ok, found, remedy }: Finding): string[] {
  const mark = page.paint(ok ? 'green' : ['red', 'bold'], ok ? 'ok  ' : 'BAD ');
  const [first = '', ...more] = found.split('\n').map(printable);
  return [
    wrapped(`${mark} ${what.padEnd(10)} ${first}`, page.columns, INDENT),
    ...more.map((line) => wrapped(INDENT + line, page.columns, INDENT)),
    ...(remedy === null ? [] : [wrapped(`${INDENT}-> ${printable(remedy)}`, page.columns, `${INDENT}   `)]),
  ];
}

function checkNode(): Finding {
  const version = process.versions.node;
  return typeof process.execve === 'function'
    ? good('node', version)
    : bad('node', version, 'Node 22.15 or newer makes hits faster; set IREE_TUNED_NODE to one');
}

async function checkCompiler(surroundings: Surroundings): Promise<Finding[]> {
  const { env, root, cacheDirectory } = surroundings;
  let compiler: FoundCompiler;
  try {
    compiler = compilerOf(surroundings);
  } catch (error) {
    // The last line of the message is the remedy.
    const lines = messageOf(error)
      .replace(/^iree-compile-tuned: /, '')
      .split('\n');
    return [bad('compiler', lines.slice(0, -1).join('\n'), lines.at(-1)!)];
  }
  const description = await describeCompiler(compiler.executable, cacheDirectory);
  const name = `${description.version}, ${compiler.executable} (by ${compiler.origin})`;
  const findings: Finding[] = [];
  if (description.version === 'unknown')
    findings.push(
      bad(
        'compiler',
        name,
        'it does not answer --version as iree-compile does: set IREE_TUNED_COMPILER to an iree-compile',
      ),
    );
  else findings.push(good('compiler', name));

  const probe = await probeTargets(compiler.executable, HOST_FLAGS, [], hostCpu(), cacheDirectory);
  const host = probe.targets[0]?.target;
  findings.push(
    host === undefined
      ? bad('target', probe.problem ?? 'none', 'this compiler has no llvm-cpu backend for this machine')
      : good(
          'target',
          `${host.cpu || 'generic'}, ${host.features.length} features, vectors of ${host.nativeVectorBytes} bytes`,
        ),
  );
  for (const tool of ['iree-benchmark-module', 'iree-run-module']) {
    const path = findRuntimeTool(tool, compiler, env, { root, cacheDirectory });
    if (path === undefined) {
      findings.push(
        bad(
          'runtime',
          `${tool} is not found`,
          'pip install iree-base-runtime of the same version, for tuning',
        ),
      );
      continue;
    }
    const run = await askCompiler(path, ['--help'], { env }).catch(() => null);
    findings.push(
      run === null || run.code !== 0
        ? bad('runtime', `${path} does not run`, 'install iree-base-runtime again')
        : good('runtime', path),
    );
  }
  return findings;
}

/** The content of the database, and its invalid rows. */
function checkContent(database: string, readonly: boolean, whyReadonly: string | null): Finding {
  const exchange = openExchange(database, { readonly: readonly || whyReadonly !== null });
  const { records, claims, unsound, revokedClaims, keptLines } = exchange.health();
  exchange.close();
  const broken = Object.entries(unsound).filter(([, count]) => count > 0);
  const on = fileSystemName(database);
  const found = [
    database,
    counted(records, 'record'),
    ...(claims > records ? [counted(claims, 'claim')] : []),
    ...(revokedClaims > 0 ? [`${counted(revokedClaims, 'claim')} revoked`] : []),
    ...(keptLines > 0 ? [`${counted(keptLines, 'line')} of a later version, not read`] : []),
    ...(on === null ? [] : [`on ${on}`]),
  ].join(', ');
  if (broken.length > 0)
    return bad(
      'database',
      `${found}; invalid, and ignored: ${broken.map(([table, count]) => counted(count, table)).join(', ')}`,
      'another program has written into it: iree-tuned db export FILE writes the valid rows, and iree-tuned db import reads them into a new database',
    );
  return whyReadonly === null ? good('database', found) : bad('database', found, whyReadonly);
}

/** The database, and this machine's device in it. */
async function checkDatabase(surroundings: Surroundings): Promise<Finding[]> {
  const { database, forDevice, readonly } = surroundings.settings;
  const device = await describeDeviceHere(surroundings);
  const key = deviceKey(device);
  const inClass = `class ${deviceClass(device) ?? 'unknown: the system does not describe its processor'}`;
  try {
    const { store, whyReadonly } = await openAsFarAsPossible(database, { readonly, onMigrated: warn });
    const devices = store.devices();
    const whyUnknown = forDevice === undefined ? null : whyNoDevice(forDevice, device, key, store);
    store.close();
    const name = devices.find((one) => one.key === key)?.name;
    return [
      good('device', `${key}\n${inClass}${name ? `\nname ${name}` : ''}`),
      ...(whyUnknown === null ? [] : [bad('for-device', forDevice!, whyUnknown)]),
      checkContent(database, readonly, whyReadonly),
    ];
  } catch (error) {
    return [good('device', `${key}\n${inClass}`), bad('database', database, messageOf(error))];
  }
}

/** Why builds cannot be for a device; null if they can. */
function whyNoDevice(asked: string, device: Device, key: string, store: Store): string | null {
  try {
    deviceFor({ device, deviceKey: key }, asked, store);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

function checkCache({ cacheDirectory }: Surroundings): Finding {
  try {
    makeFolder(cacheDirectory, 0o700);
    accessSync(cacheDirectory, constants.W_OK);
  } catch (error) {
    return bad('cache', messageOf(error), 'set IREE_TUNED_CACHE to a folder that can be written');
  }
  const network = networkOf(cacheDirectory);
  return network === null
    ? good('cache', cacheDirectory)
    : bad(
        'cache',
        `${cacheDirectory}, on a network disk (${network}), which slows every build`,
        "set IREE_TUNED_CACHE to a folder on this machine's own disk",
      );
}

/** Empty without a team. */
async function checkTeam(surroundings: Surroundings): Promise<Finding[]> {
  const url = surroundings.settings.team;
  if (url === undefined) return [];
  const shown = withoutPassword(url);
  try {
    const answer = await withTeam(surroundings, (team) => team.identify(TEAM_LIMIT_MS));
    if (!answer.ok)
      return [
        bad(
          'team',
          answer.failure.reason,
          'builds continue without the team; iree-tuned team status shows details',
        ),
      ];
  } catch (error) {
    return [bad('team', messageOf(error), 'fix the setting "team"')];
  }
  const isLeftAlone =
    breakerState(teamState(surroundings.cacheDirectory, url).breaker(), Date.now()) !== 'closed';
  return [
    isLeftAlone
      ? bad(
          'team',
          `${shown} answers, but failed a while ago`,
          'iree-tuned team sync lets builds ask it again at once',
        )
      : good('team', shown),
  ];
}
