// The settings of files, without those that a project's file may not set. Pure.
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { ConfigEntry, ConfigText, ConfigValue } from './config-text.ts';
import { isServer } from './address.ts';
import type { OutputName, SettingsFile } from './files.ts';
import { type Definition, DEFINITIONS, isName, type Name, NAMES, shownText } from './settings.ts';

export interface FileSources {
  /** In order of precedence. */
  readonly files: readonly SettingsFile[];
  readonly parse: (text: string) => ConfigText;
  readonly home: string;
  /** Resolves links in the path of an existing or new file; null if it cannot. */
  readonly realPath: (path: string) => string | null;
  /** See `mayOverwrite`. */
  readonly mayOverwrite: (name: OutputName, path: string) => boolean;
}

/** A value as text, and its origin. */
export interface Placed {
  readonly text: string;
  readonly origin: string;
  /** Whether it comes from a project that the user does not trust. */
  readonly isForeign?: boolean;
}

export type Layer = ReadonlyMap<Name, Placed>;

/** Key of the list of projects that the user trusts. */
const TRUST_KEY = 'trusted-projects';

/** @returns a layer for each file; `problems` and `refused` as in `Resolution` */
export function readLayers({ files, parse, home, realPath, mayOverwrite }: FileSources) {
  const problems: string[] = [];
  const refused: string[] = [];
  const contents = files.map((file) => ({
    file,
    folder: dirname(file.path),
    ...(file.text === null ? { entries: [], problem: null } : parse(file.text)),
  }));
  for (const { file, problem } of contents) {
    if (problem !== null) problems.push(`${file.path}:${problem}`);
    if (file.problem !== null) refused.push(`${file.path} is ignored: ${file.problem}`);
  }
  const trusted = contents.flatMap(({ file, folder, entries }) =>
    file.layer === 'project' ? [] : trustedBy(entries).map((path) => realPath(placeOf(path, folder, home))),
  );
  const userPath = files.find(({ layer }) => layer === 'user')?.path ?? "the user's settings";
  const layers = contents.map(({ file, folder, entries }): Layer => {
    const own = file.layer === 'project' ? realPath(folder) : null;
    const isFree = file.layer !== 'project' || trusted.some((root) => isInside(own, root));
    const layer = new Map<Name, Placed>();
    for (const { key, value, line, column } of entries) {
      const at = `${file.path}:${line}:${column}: "${key}"`;
      const problem = problemOf(key, value);
      if (problem !== null) {
        problems.push(at + problem);
      } else if (isName(key)) {
        const text = textOf(key, String(value), folder, home);
        const why = isFree ? null : whyRefused(key, text, own, realPath, mayOverwrite);
        if (why === null) layer.set(key, { text, origin: file.path, isForeign: !isFree });
        else
          refused.push(
            `${at} is ignored: ${why}; to allow it, add "${folder}" to "${TRUST_KEY}" in ${userPath}`,
          );
      } else if (file.layer === 'project') {
        refused.push(`${at} is ignored: a project cannot trust itself`);
      }
    }
    return layer;
  });
  return { layers, problems, refused };
}

/** The error in an entry; null for none. */
function problemOf(key: string, value: ConfigValue): string | null {
  if (key === TRUST_KEY) return isPathList(value) ? null : ': it takes a list of folders';
  if (!isName(key)) return ` is unknown: the keys are ${[...NAMES, TRUST_KEY].join(', ')}`;
  const { type, takes, read } = DEFINITIONS[key];
  const types = type === 'duration' ? ['number', 'string'] : [type];
  const isAccepted = types.includes(typeof value) && read(String(value)) !== undefined;
  const shown = typeof value === 'string' ? shownText(key, value) : value;
  return isAccepted ? null : `: ${JSON.stringify(shown)}: it takes ${takes}`;
}

const trustedBy = (entries: readonly ConfigEntry[]) =>
  entries.flatMap(({ key, value }) => (key === TRUST_KEY && isPathList(value) ? value : []));

/** Why a project may not set a value, such as a command or a path outside the project; null if it may. */
function whyRefused(
  name: Name,
  text: string,
  folder: string | null,
  realPath: FileSources['realPath'],
  mayOverwrite: FileSources['mayOverwrite'],
): string | null {
  const { whyNotProject }: Definition<unknown> = DEFINITIONS[name];
  if (whyNotProject !== undefined) return whyNotProject;
  if (isStderr(name, text)) return null;
  if (pathsIn(name, text).some((path) => isServer(path) || !isInside(realPath(path), folder)))
    return 'the path is outside the project';
  const isLost = (name === 'explain' || name === 'log') && !mayOverwrite(name, text);
  return isLost ? 'it would overwrite a file of another program' : null;
}

const isStderr = (name: Name, text: string) => name === 'explain' && text === '-';

function pathsIn(name: Name, text: string): string[] {
  const { withPaths }: Definition<unknown> = DEFINITIONS[name];
  const paths: string[] = [];
  withPaths?.(text, (path) => {
    paths.push(path);
    return path;
  });
  return paths;
}

function textOf(name: Name, text: string, folder: string, home: string): string {
  const { withPaths }: Definition<unknown> = DEFINITIONS[name];
  if (withPaths === undefined || isStderr(name, text) || isServer(text)) return text;
  return withPaths(text, (path) => placeOf(path, folder, home));
}

/** An absolute path. No shell expands `~` in a settings file. */
const placeOf = (text: string, folder: string, home: string) =>
  text === '~' || text.startsWith('~/') ? join(home, text.slice(1)) : resolve(folder, text);

const isPathList = (value: ConfigValue): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '');

function isInside(path: string | null, folder: string | null): boolean {
  if (path === null || folder === null) return false;
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}
