// A wheel: a zip with the files of site-packages, those of the environment's `bin`, and what pip wants to know. The same
// files make the same bytes, on any day and in any time zone.
import { createHash } from 'node:crypto';
import { zipSync, type Zippable } from 'fflate';
import type { Files, PackagedFile } from './files.ts';
import { textFile } from './files.ts';

export interface Wheel {
  /** As Python writes it: with `_` where its name on PyPI has `-`. */
  readonly name: string;
  readonly version: string;
  /** `python-abi-platform`. */
  readonly tag: string;
  /** The text of METADATA. */
  readonly metadata: string;
  /** By path below site-packages. */
  readonly files: Files;
  /** By name; they go to where the environment has its commands. */
  readonly scripts: Files;
  /** By name. */
  readonly licences: Files;
}

export const wheelFileName = ({ name, version, tag }: Pick<Wheel, 'name' | 'version' | 'tag'>): string =>
  `${name}-${version}-${tag}.whl`;

/** A version of npm's, as PEP 440 writes it: `1.2.0-rc.1` is `1.2.0rc1`. */
export function pythonVersion(version: string): string {
  const match = /^(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?$/.exec(version);
  if (match === null)
    throw new Error(`${version} is no version for PyPI: it takes 1.2.3 or 1.2.3-rc.1 (alpha, beta, rc)`);
  const [, release, stage, number] = match;
  return release! + (stage === undefined ? '' : `${{ alpha: 'a', beta: 'b' }[stage] ?? stage}${number!}`);
}

/** The bytes of the wheel. */
export function writeWheel(wheel: Wheel): Uint8Array {
  const stem = `${wheel.name}-${wheel.version}`;
  const info = `${stem}.dist-info`;
  const all = new Map<string, PackagedFile>([
    ...wheel.files,
    ...[...wheel.scripts].map(([name, file]) => [`${stem}.data/scripts/${name}`, file] as const),
    ...[...wheel.licences].map(([name, file]) => [`${info}/licenses/${name}`, file] as const),
    [`${info}/METADATA`, textFile(wheel.metadata)],
    [
      `${info}/WHEEL`,
      textFile(
        `Wheel-Version: 1.0\nGenerator: iree-compile-tuned\nRoot-Is-Purelib: false\nTag: ${wheel.tag}\n`,
      ),
    ],
  ]);
  const sorted = [...all].sort(([a], [b]) => (a < b ? -1 : 1));
  // Those that pip asks for what is in it come last, as a reader of the end of the file wants them.
  const files = [
    ...sorted.filter(([path]) => !path.startsWith(info)),
    ...sorted.filter(([path]) => path.startsWith(info)),
  ];
  const record = `${info}/RECORD`;
  files.push([record, textFile(`${files.map(recordLine).join('')}${record},,\n`)]);
  const entries: Zippable = Object.fromEntries(files.map(([path, file]) => [path, zipEntry(file)]));
  return zipSync(entries);
}

function recordLine([path, { contents }]: [string, PackagedFile]): string {
  if (/[",\n]/.test(path)) throw new Error(`${path}: RECORD is written without quotes`);
  const digest = createHash('sha256').update(contents).digest('base64url');
  return `${path},sha256=${digest},${contents.length}\n`;
}

/** Unix, by whose rights and types of files the attributes are. */
const UNIX = 3;
const [REGULAR_FILE, EXECUTABLE, PLAIN] = [0o100000, 0o755, 0o644];

function zipEntry({ contents, isExecutable }: PackagedFile): Zippable[string] {
  const mode = REGULAR_FILE | (isExecutable ? EXECUTABLE : PLAIN);
  // A zip has local time: this is the same text everywhere.
  return [contents, { level: 9, mtime: new Date(1980, 0, 1), os: UNIX, attrs: (mode << 16) >>> 0 }];
}
