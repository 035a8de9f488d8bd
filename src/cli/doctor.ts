// `iree-tuned doctor`
import { accessSync, constants } from 'node:fs';
import { runnerOf } from '../runner/runner.ts';
import { openSession } from '../runner/session.ts';
import { describeCompiler } from '../compiler/describe.ts';
import { findRuntimeTool, type FoundCompiler } from '../compiler/find.ts';
import { askCompiler } from '../compiler/ask.ts';
import { deviceClass, deviceKey, unknownDevice, type Device } from '../backend/device.ts';
import { makeFolder } from '../system/folder.ts';
import { hostCpu } from '../system/processor.ts';
import { HOST_FLAGS, probeTargets } from '../site/probe.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { printable } from '../report/text.ts';
import { unknownVariables } from '../report/unknown-settings.ts';
import { messageOf } from '../system/tell.ts';
import { fileSystemName, networkOf } from '../system/file-system.ts';
import { deviceFor } from '../decision/for-device.ts';
import { openAsFarAsPossible } from '../store/open.ts';
import { openExchange } from '../store/sqlite/exchange.ts';
import type { Store } from '../store/store.ts';
import { compilerOf } from '../populate/site.ts';
import { counted, lastLine } from '../system/format.ts';
import { CliCommand } from './command.ts';
import { checkRunner, finding, type Finding } from './doctor-runner.ts';
import { describeDeviceHere } from './input.ts';
import { page, warn } from './output.ts';
import { stateOf } from './team/bases.ts';

/** Longest wait for another build on the machine of the runner. */
const RUNNER_SECONDS = 10;

export const doctor = new CliCommand(
  'doctor',
  'check the compiler, the runtime, the database and the team, and print a fix for each problem',
)
  .json()
  .examples(['iree-tuned doctor', 'all requirements of tuning'])
  .action(async (_, command: CliCommand) => {
    const surroundings = command.surroundings();
    const findings = [
      checkNode(),
      ...(await checkTools(surroundings)),
      ...(await checkDatabase(surroundings)),
      checkCache(surroundings),
      ...checkBases(surroundings),
      ...unknownVariables(surroundings.env).map((found) =>
        finding('settings', found, 'iree-tuned config lists all settings'),
      ),
    ];
    command.print(findings, () => findings.flatMap(linesOf).join('\n'));
    if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
  });

const INDENT = ' '.repeat(16);

function linesOf({ what, ok, found, remedy }: Finding): string[] {
  const mark = page.paint(ok ? 'green' : ['red', 'bold'], ok ? 'ok  ' : 'BAD ');
  const [first = '', ...more] = found.split('\n').map(printable);
  return [
    `${mark} ${what.padEnd(10)} ${first}`,
    ...more.map((line) => INDENT + line),
    ...(remedy === null ? [] : [`${INDENT}-> ${printable(remedy)}`]),
  ];
}

function checkNode(): Finding {
  const isNew = typeof process.execve === 'function';
  const remedy = 'Node 22.15 or newer makes hits faster; set IREE_TUNED_NODE to one';
  return finding('node', process.versions.node, isNew ? null : remedy);
}

/** The compiler here, and the tools of the runtime here or on the machine of the runner. */
async function checkTools(surroundings: Surroundings): Promise<Finding[]> {
  const { settings, cacheDirectory } = surroundings;
  const runner = runnerOf(settings, cacheDirectory);
  if (runner === null) return checkCompiler(surroundings);
  try {
    using session = await openSession(runner, RUNNER_SECONDS);
    const busy = 'another build measures there: wait for its end';
    if (session === null) return [finding('runner', runner.text, busy)];
    const here = await checkCompiler(surroundings);
    const more = here.every(({ ok }) => ok) ? await checkRunner(runner, surroundings) : [];
    return [finding('runner', runner.text), ...here, ...more];
  } catch (error) {
    const [problem, ...remedy] = messageOf(error).split(': ');
    return [finding('runner', problem!, remedy.join(': '))];
  }
}

async function checkCompiler(surroundings: Surroundings): Promise<Finding[]> {
  const { env, cacheDirectory } = surroundings;
  let compiler: FoundCompiler;
  try {
    compiler = compilerOf(surroundings);
  } catch (error) {
    // The last line of the message is the remedy.
    const lines = messageOf(error)
      .replace(/^iree-compile-tuned: /, '')
      .split('\n');
    return [finding('compiler', lines.slice(0, -1).join('\n'), lines.at(-1))];
  }
  const { version } = await describeCompiler(compiler.executable, cacheDirectory);
  const noAnswer =
    'it does not answer --version as iree-compile does: set IREE_TUNED_COMPILER to an iree-compile';
  const probe = await probeTargets(compiler.executable, HOST_FLAGS, [], hostCpu(), cacheDirectory);
  const host = probe.targets[0]?.target;
  const findings = [
    finding(
      'compiler',
      `${version}, ${compiler.executable} (by ${compiler.origin})`,
      version === 'unknown' ? noAnswer : null,
    ),
    host === undefined
      ? finding('target', probe.problem ?? 'none', 'this compiler has no llvm-cpu backend for this machine')
      : finding(
          'target',
          `${host.cpu || 'generic'}, ${host.features.length} features, vectors of ${host.nativeVectorBytes} bytes`,
        ),
  ];
  for (const tool of ['iree-benchmark-module', 'iree-run-module']) {
    const path = findRuntimeTool(tool, compiler, env, surroundings);
    const run = path === undefined ? null : await askCompiler(path, ['--help'], { env }).catch(messageOf);
    if (path === undefined) {
      const remedy = 'pip install iree-base-runtime of the same version, for tuning';
      findings.push(finding('runtime', `${tool} is not found`, remedy));
    } else if (typeof run === 'object' && run?.code === 0) findings.push(finding('runtime', path));
    else findings.push(finding('runtime', `${path} does not run`, whyNotRun(run, surroundings)));
  }
  return findings;
}

/** The way out, with what the tool said. Its system's library may be too old for it, or of another kind. */
function whyNotRun(run: string | { readonly stderr: Buffer } | null, { settings }: Surroundings): string {
  const said = lastLine(typeof run === 'string' ? run : (run?.stderr.toString() ?? ''));
  const remedy =
    settings.runner === undefined
      ? 'install iree-base-runtime again'
      : 'set runner-tools to tools for that system: docs/devices.md';
  return said === '' ? remedy : `${remedy} (${said})`;
}

/** The content of the database, and its invalid rows. */
function checkContent(database: string, readonly: boolean, whyReadonly: string | null): Finding {
  using exchange = openExchange(database, { readonly: readonly || whyReadonly !== null });
  const { records, claims, unsound, revokedClaims, keptLines } = exchange.health();
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
  if (broken.length === 0) return finding('database', found, whyReadonly);
  return finding(
    'database',
    `${found}; invalid, and ignored: ${broken.map(([table, count]) => counted(count, table)).join(', ')}`,
    'another program has written into it: iree-tuned db export FILE writes the valid rows, and iree-tuned db import reads them into a new database',
  );
}

/** @param found the device, or the reason that there is none, with the way out after a colon */
function checkDevice(found: Device | string, name: string | null = null): Finding {
  if (typeof found === 'string') {
    const [problem, ...remedy] = found.split(': ');
    return finding('device', problem!, remedy.join(': '));
  }
  const inClass = deviceClass(found) ?? 'unknown: the system does not describe its processor';
  return finding('device', `${deviceKey(found)}\nclass ${inClass}${name === null ? '' : `\nname ${name}`}`);
}

/** The database, and this machine's device in it. */
async function checkDatabase(surroundings: Surroundings): Promise<Finding[]> {
  const { database, forDevice, readonly } = surroundings.settings;
  const found = await describeDeviceHere(surroundings);
  const device = typeof found === 'string' ? unknownDevice('none') : found;
  const key = deviceKey(device);
  try {
    const { store, whyReadonly } = await openAsFarAsPossible(database, { readonly, onMigrated: warn });
    const devices = store.devices();
    const whyUnknown = forDevice === undefined ? null : whyNoDevice(forDevice, device, key, store);
    store.close();
    const name = devices.find((one) => one.key === key)?.name;
    return [
      checkDevice(found, name),
      ...(whyUnknown === null ? [] : [finding('for-device', forDevice!, whyUnknown)]),
      checkContent(database, readonly, whyReadonly),
    ];
  } catch (error) {
    return [checkDevice(found), finding('database', database, messageOf(error))];
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

function checkCache({ cacheDirectory: path }: Surroundings): Finding {
  try {
    makeFolder(path, 0o700);
    accessSync(path, constants.W_OK);
  } catch (error) {
    return finding('cache', messageOf(error), 'set IREE_TUNED_CACHE to a folder that can be written');
  }
  const network = networkOf(path);
  if (network === null) return finding('cache', path);
  const found = `${path}, on a network disk (${network}), which slows every build`;
  return finding('cache', found, "set IREE_TUNED_CACHE to a folder on this machine's own disk");
}

/** Whether the bases could be asked when they were asked last. */
const checkBases = (surroundings: Surroundings): Finding[] =>
  surroundings.settings.bases.map((address) => {
    const { base, sequence, problem } = stateOf(address, surroundings);
    if (problem !== null)
      return finding('team', problem, 'builds go on with what is here; iree-tuned team sync asks again');
    return finding(
      'team',
      sequence === null ? `${base}, which no build has asked yet` : `${base}, number ${sequence}`,
    );
  });
