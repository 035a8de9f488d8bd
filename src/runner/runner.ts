// The runner of a build: another machine, or an emulator, that runs the tools of the runtime. Its folder in the cache has a program in place of each
// tool, which runs the tool there (`remote-tool.ts`), so measuring is the same for all machines.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathIn, RUNNERS } from '../system/cache.ts';
import { textIn } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { shortHash } from '../system/hash.ts';
import { entryOf } from '../system/package-root.ts';
import { shellWord } from '../system/shell-word.ts';
import { replaceFile } from '../system/temporary-files.ts';
import { pinned, readAddress, type Address } from './address.ts';

export interface Runner {
  /** The setting. */
  readonly text: string;
  readonly address: Address;
  /** Folder there with the tools of the runtime, or a wheel here that has them; null if the shell there finds them. */
  readonly tools: string | null;
  /** Processors there that run programs, such as `4-7`; null for all. */
  readonly cpus: string | null;
  /** Folder here. It need not exist. */
  readonly folder: string;
}

export interface RunnerSettings {
  readonly runner: string | undefined;
  readonly runnerTools?: string | undefined;
  readonly runnerCpus?: string | undefined;
}

/** The runner of these settings; null if this machine runs its programs. */
export function runnerOf(
  { runner: text, runnerTools, runnerCpus }: RunnerSettings,
  cacheDirectory: string,
): Runner | null {
  const address = text === undefined ? undefined : readAddress(text);
  if (text === undefined || address === undefined) return null;
  const name = shortHash(JSON.stringify([text, runnerTools, runnerCpus]));
  return {
    ...{ text, address, tools: runnerTools ?? null, cpus: runnerCpus ?? null },
    folder: pathIn(cacheDirectory, RUNNERS, name),
  };
}

/** The tools that run there. Others only read files. */
export const TOOLS: readonly string[] = ['iree-run-module', 'iree-benchmark-module'];

/** The wheel of the runtime that the setting names; null if it names a folder there, or nothing. */
export const wheelOf = ({ tools }: Pick<Runner, 'tools'>): string | null =>
  tools?.endsWith('.whl') === true ? tools : null;

/** Folder here of the unpacked tools. */
export const unpackedIn = ({ folder }: Pick<Runner, 'folder'>): string => join(folder, 'tools');

/** Link in the folder of a session there, to the tools of a wheel. */
export const TOOLS_LINK = 'tools';

/** Path of a tool there, from the folder of the session. */
export const toolThere = (runner: Pick<Runner, 'tools'>, name: string): string => {
  if (wheelOf(runner) !== null) return `./${TOOLS_LINK}/${name}`;
  return runner.tools === null ? name : `${runner.tools.replace(/\/$/, '')}/${name}`;
};

/** The folder of the files that describe the machine, as a root for `system/processor.ts`. It need not exist. */
export const factsFolder = ({ folder }: Pick<Runner, 'folder'>): string => join(folder, 'facts');

/** Whether the machine has been asked. A build for it that only uses records needs no link. */
export const isKnown = (runner: Pick<Runner, 'folder'>): boolean =>
  existsSync(join(factsFolder(runner), 'machine'));

/** Whether the machine has described itself. An emulator's files may be those of this machine, or missing. */
export const isDescribed = (runner: Pick<Runner, 'folder'>): boolean =>
  textIn(join(factsFolder(runner), 'machine')).trim() !== '';

/**
 * The program in place of a tool. Writes it if it is missing.
 * @param root folder of this package
 * @throws if the cache folder is not writable
 */
export function standIn(runner: Runner, name: string, root: string): string {
  const path = join(runner.folder, name);
  const text = `#!/bin/sh\n${commandOf(runner, name, root)} "$@"\n`;
  if (textIn(path) === text) return path;
  makeFolder(runner.folder, 0o700);
  replaceFile(path, text, 0o700);
  return path;
}

function commandOf(runner: Runner, name: string, root: string): string {
  const { address, tools, cpus } = runner;
  const own = wheelOf(runner) === null ? tools : unpackedIn(runner);
  const words =
    address.kind === 'command'
      ? [...address.words, ...pinned(cpus), own === null ? name : join(own, name)]
      : [process.execPath, ...entryOf('runner', root), JSON.stringify(runner), name];
  return `exec ${words.map(shellWord).join(' ')}`;
}

/** Folder here with the names of the files that a session has sent. */
export const SENT = 'sent';

/** Folder here with outputs of a session, by digest. */
export const KEPT = 'kept';

/** File here with the path of the session's folder there. */
export const sessionFile = (folder: string): string => join(folder, 'session');

/** Folder of this build's files there; null without a session. */
export const sessionFolder = (folder: string): string | null => textIn(sessionFile(folder)) || null;
