// Writes a wheel: a zip with files for site-packages and `bin`, and metadata. It is reproducible: equal files give equal bytes.
import { createHash } from 'node:crypto';
import { zipSync, type Zippable } from 'fflate';
import type { Files, PackagedFile } from './files.ts';
import { textFile } from './files.ts';

export interface Wheel {
  /** Name with `_` instead of `-`. */
  readonly name: string;
  readonly version: string;
  /** `python-abi-platform`. */
  readonly tag: string;
  /** The text of METADATA. */
  readonly metadata: string;
  /** By path relative to site-packages. */
  readonly files: Files;
  /** Commands by name. */
  readonly scripts: Files;
  /** By name. */
  readonly licences: Files;
}

export const wheelFileName = ({ name, version, tag }: Pick<Wheel, 'name' | 'version' | 'tag'>): string =>
  `${name}-${version}-${tag}.whl`;

/** Converts a version of npm to PEP 440: `1.2.0-rc.1` to `1.2.0rc1`. */
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
  // Metadata last, as the wheel format recommends.
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

/** System of the file attributes: Unix. */
const UNIX = 3;
const [REGULAR_FILE, EXECUTABLE, PLAIN] = [0o100000, 0o755, 0o644];

function zipEntry({ contents, isExecutable }: PackagedFile): Zippable[string] {
  const mode = REGULAR_FILE | (isExecutable ? EXECUTABLE : PLAIN);
  // Zip files have local time, so this date is the same in every time zone.
  return [contents, { level: 9, mtime: new Date(1980, 0, 1), os: UNIX, attrs: (mode << 16) >>> 0 }];
}
