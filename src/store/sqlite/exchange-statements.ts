// The SQL of exports, imports, pushes and pruning.
import { FIELDS, NOTE_KINDS, PARTS, type PartType } from '../fields.ts';
import { CLAIMS, columns, into, KEYS, SUBJECT_WITH_KEYS } from './statements.ts';

const ALIAS: Readonly<Record<PartType, string>> = { workload: 'w', target: 't', device: 'd', compiler: 'c' };

/** Condition of a filter. Its parameters are texts or null. */
const FITS = PARTS.map((part) => `(@${part} IS NULL OR instr(${ALIAS[part]}.key, @${part}) > 0)`).join(
  ' AND ',
);

const IS_USED = ['claim', 'mark', 'trial']
  .map((table) => `EXISTS (SELECT 1 FROM ${table} AS x WHERE x.subject = s.id)`)
  .join(' OR ');

/** Keys and forms in claims, marks and trials of a filter. */
export const selectParts = (part: PartType): string => `
  SELECT p.key, p.form FROM ${part} AS p
  WHERE EXISTS (SELECT 1 FROM ${SUBJECT_WITH_KEYS} WHERE s.${part} = p.id AND ${FITS} AND (${IS_USED}))
  ORDER BY p.key`;

const BY_KEYS = 'w.key, t.key, d.key, c.key';

/** All rows of each table that becomes lines. */
export const ROWS = {
  revocation: `SELECT ${columns(FIELDS.revocation)} FROM revocation AS r`,
  claim: CLAIMS,
  mark: `SELECT ${KEYS}, ${columns(FIELDS.mark)} FROM ${SUBJECT_WITH_KEYS} JOIN mark AS r ON r.subject = s.id`,
  trial: `
    SELECT r.number, ${KEYS}, ${columns(FIELDS.trial)}
    FROM ${SUBJECT_WITH_KEYS} JOIN trial AS r ON r.subject = s.id`,
  kept: 'SELECT line FROM kept_line AS r',
  note: `
    SELECT ${columns(FIELDS.note)} FROM program_note AS r
    WHERE r.kind IN (${NOTE_KINDS.map((kind) => `'${kind}'`).join()})`,
};

type LineTable = keyof typeof ROWS;

/** Part of a key of `programIdentity`; null for other text. */
const placed = (index: number) =>
  `CASE WHEN json_valid(r.program) THEN json_extract(r.program, '$[${index}]') END`;

/** `FITS` for notes, which are about programs without workloads of their own. */
const NOTE_FITS = `@workload IS NULL AND ${(['target', 'device', 'compiler'] as const)
  .map((part, i) => `(@${part} IS NULL OR instr(${placed(i + 1)}, @${part}) > 0)`)
  .join(' AND ')}`;

const isSince = (time: string) => `(@since IS NULL OR ${time} >= @since)`;

/** The rows of a filter in the order of an export. */
export const SORTED: Readonly<Record<LineTable, string>> = {
  revocation: `${ROWS.revocation} ORDER BY scope, value, reason, created_at, created_by`,
  claim: `${ROWS.claim} WHERE ${FITS} AND ${isSince('r.created_at')} ORDER BY ${BY_KEYS}, r.configuration`,
  mark: `${ROWS.mark} WHERE ${FITS} AND ${isSince('r.created_at')}
    ORDER BY ${BY_KEYS}, r.configuration, r.generation, r.kind, r.created_by, r.machine, r.tool`,
  trial: `${ROWS.trial} WHERE ${FITS} AND ${isSince('r.created_at')} ORDER BY ${BY_KEYS}, r.id`,
  kept: `${ROWS.kept} ORDER BY line`,
  note: `${ROWS.note} AND ${NOTE_FITS} AND ${isSince('r.written_at')} ORDER BY program, kind, created_by, machine`,
};

export const ALL_RUNS = `
  SELECT t.configuration, ${columns(FIELDS.run)} FROM run AS r JOIN trial AS t ON t.number = r.trial`;

export const RUNS_OF_TRIAL = `${ALL_RUNS} WHERE r.trial = ? ORDER BY r.id`;

export const TRIAL_OF_ID = `${ROWS.trial} WHERE r.id = ?`;

export const DELETE_TRIAL = 'DELETE FROM trial WHERE number = ?';
export const DELETE_RUNS = 'DELETE FROM run WHERE trial = ?';

export const INSERT_REVOCATION = `INSERT ${into('revocation', FIELDS.revocation)} ON CONFLICT DO NOTHING`;

export const INSERT_KEPT_LINE = 'INSERT INTO kept_line (line) VALUES (?) ON CONFLICT DO NOTHING';
export const DELETE_KEPT_LINE = 'DELETE FROM kept_line WHERE line = ?';
export const COUNT_KEPT_LINES = 'SELECT count(*) FROM kept_line';

const OLD_TRIALS = `
  SELECT r.number FROM ${SUBJECT_WITH_KEYS} JOIN trial AS r ON r.subject = s.id
  WHERE r.created_at < @before AND ${FITS}`;
const CLAIMS_OF_FILTER = `
  SELECT r.id FROM ${SUBJECT_WITH_KEYS} JOIN claim AS r ON r.subject = s.id WHERE ${FITS}`;

/** The rows to prune. Runs come before their trials, because runs refer to them. */
export const PRUNED = {
  runs: `FROM run WHERE trial IN (${OLD_TRIALS})`,
  trials: `FROM trial WHERE number IN (${OLD_TRIALS})`,
  claims: `FROM claim WHERE id IN (${CLAIMS_OF_FILTER})`,
};

/** Deletes subjects and parts without references, except named devices. */
export const DELETE_UNNAMED = [
  `DELETE FROM subject WHERE ${['claim', 'mark', 'trial', 'miss', 'undecided']
    .map((table) => `NOT EXISTS (SELECT 1 FROM ${table} AS x WHERE x.subject = subject.id)`)
    .join(' AND ')}`,
  ...PARTS.map(
    (part) =>
      `DELETE FROM ${part} WHERE id NOT IN (SELECT ${part} FROM subject)` +
      (part === 'device' ? ' AND id NOT IN (SELECT device FROM device_name)' : ''),
  ),
];

export const NOTE_OF_ORIGIN = `
  ${ROWS.note} AND program = @program AND kind = @kind AND created_by = @createdBy AND machine = @machine`;

export const DELETE_REVOCATION = 'DELETE FROM revocation WHERE scope = @scope AND value = @value';
