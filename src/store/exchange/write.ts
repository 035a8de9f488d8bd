// Canonical text of lines: equal lines have equal texts.
import { configurationText } from '../../backend/index.ts';
import type { Configuration } from '../../backend/configuration.ts';
import type { Line } from './lines.ts';

const SUBJECT = ['workload', 'target', 'device', 'compiler'];
const ORIGIN = ['createdBy', 'machine', 'tool'];
const PART = ['key', 'form'];

/** Keys of each type after `type` and `version`, in order. */
const KEYS: Readonly<Record<Line['type'], readonly string[]>> = {
  workload: PART,
  target: PART,
  device: PART,
  compiler: PART,
  claim: [...SUBJECT, 'configuration', 'evidence', 'createdAt', ...ORIGIN, 'digest'],
  mark: [...SUBJECT, 'configuration', 'generation', 'kind', 'reason', 'createdAt', ...ORIGIN],
  trial: [
    ...[...SUBJECT, 'id', 'configuration', 'outcome', 'seconds', 'ratio', 'message', 'strategy'],
    ...['createdAt', ...ORIGIN, 'runs'],
  ],
  revocation: ['scope', 'value', 'reason', 'createdAt', 'createdBy'],
};

/** Keys of nested objects. */
const EVIDENCE = [
  ...['version', 'confidence', 'ratio', 'low', 'high', 'defaultSeconds', 'seconds', 'processes'],
  ...['repetitions', 'noiseFloor', 'maxError', 'trials', 'tuningSeconds', 'families', 'complete'],
];
const RUN = ['stage', 'batch', 'placement', 'build', 'seconds', 'defaultSeconds'];

const plain = (value: unknown) => JSON.stringify(value);

/** JSON of an object with the given keys in order. */
const ordered = (
  value: object,
  keys: readonly string[],
  textOf: (value: unknown, key: string) => string = plain,
) =>
  `{${keys.map((key) => `${JSON.stringify(key)}:${textOf((value as Record<string, unknown>)[key], key)}`).join()}}`;

function jsonOf(value: unknown, key: string): string {
  switch (key) {
    case 'configuration':
      return configurationText(value as Configuration);
    case 'evidence':
      return ordered(value as object, EVIDENCE);
    case 'runs':
      return `[${(value as object[]).map((run) => ordered(run, RUN)).join()}]`;
    default:
      return plain(value);
  }
}

/** Text of a line without the line feed. */
export const lineText = (line: Line): string =>
  ordered(line, ['type', 'version', ...KEYS[line.type]], jsonOf);
