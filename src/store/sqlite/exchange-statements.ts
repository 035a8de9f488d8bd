// The SQL of exports, imports, pushes and pruning.
import { CLAIM_COLUMNS, KEYS, SUBJECT_PARTS, SUBJECT_WITH_KEYS } from './statements.ts';

type Part = (typeof SUBJECT_PARTS)[number];

const ALIAS: Readonly<Record<Part, string>> = { workload: 'w', target: 't', device: 'd', compiler: 'c' };

/** Condition of a filter. Its parameters are texts or null. */
const FITS = SUBJECT_PARTS.map(
  (part) => `(@${part} IS NULL OR instr(${ALIAS[part]}.key, @${part}) > 0)`,
).join(' AND ');

const IS_USED = ['claim', 'mark', 'trial']
  .map((table) => `EXISTS (SELECT 1 FROM ${table} AS x WHERE x.subject = s.id)`)
  .join(' OR ');

/** Keys and forms in claims, marks and trials of a filter. */
export const selectParts = (part: Part): string => `
  SELECT p.key, p.form FROM ${part} AS p
  WHERE EXISTS (SELECT 1 FROM ${SUBJECT_WITH_KEYS} WHERE s.${part} = p.id AND ${FITS} AND (${IS_USED}))
  ORDER BY p.key`;

const BY_KEYS = 'w.key, t.key, d.key, c.key';

const CLAIMS = `
  SELECT r.subject, ${KEYS}, w.form AS workload_form, ${CLAIM_COLUMNS}, r.change
  FROM ${SUBJECT_WITH_KEYS} JOIN claim AS r ON r.subject = s.id`;
const MARKS = `
  SELECT ${KEYS}, r.configuration, r.generation, r.kind, r.reason, r.created_at, r.created_by, r.machine, r.tool, r.change
  FROM ${SUBJECT_WITH_KEYS} JOIN mark AS r ON r.subject = s.id`;
const TRIALS = `
  SELECT r.number, r.id, ${KEYS}, r.configuration, r.outcome, r.seconds, r.ratio, r.message, r.strategy, r.created_at,
         r.created_by, r.machine, r.tool, r.change
  FROM ${SUBJECT_WITH_KEYS} JOIN trial AS r ON r.subject = s.id`;
const REVOCATIONS = 'SELECT scope, value, reason, created_at, created_by, change FROM revocation AS r';
const KEPT_LINES = 'SELECT line, change FROM kept_line AS r';

/** In the order of an export. */
export const SORTED = {
  revocation: `${REVOCATIONS} ORDER BY scope, value, reason, created_at, created_by`,
  claim: `${CLAIMS} WHERE ${FITS} ORDER BY ${BY_KEYS}, r.configuration`,
  mark: `${MARKS} WHERE ${FITS}
    ORDER BY ${BY_KEYS}, r.configuration, r.generation, r.kind, r.created_by, r.machine, r.tool`,
  trial: `${TRIALS} WHERE ${FITS} ORDER BY ${BY_KEYS}, r.id`,
  kept: `${KEPT_LINES} ORDER BY line`,
};

const CHANGED = 'WHERE r.change > @after ORDER BY r.change LIMIT @most';

/** By change. */
export const SINCE = {
  revocation: `${REVOCATIONS} ${CHANGED}`,
  claim: `${CLAIMS} ${CHANGED}`,
  mark: `${MARKS} ${CHANGED}`,
  trial: `${TRIALS} ${CHANGED}`,
  kept: `${KEPT_LINES} ${CHANGED}`,
};

/** All rows. */
export const ALL = {
  revocation: REVOCATIONS,
  claim: `${CLAIMS} ORDER BY r.subject`,
  mark: MARKS,
  trial: TRIALS,
  run: `SELECT o.*, r.configuration FROM run AS o JOIN trial AS r ON r.number = o.trial`,
  part: (part: Part) => `SELECT key, form FROM ${part}`,
};

export const RUNS_OF_TRIAL = `
  SELECT stage, batch, placement, build, seconds, default_seconds FROM run WHERE trial = ? ORDER BY id`;

export const TRIAL_OF_ID = `${TRIALS} WHERE r.id = ?`;

export const DELETE_TRIAL = 'DELETE FROM trial WHERE number = ?';
export const DELETE_RUNS = 'DELETE FROM run WHERE trial = ?';

export const INSERT_REVOCATION = `
  INSERT INTO revocation (scope, value, reason, created_at, created_by, change)
  VALUES (@scope, @value, @reason, @createdAt, @createdBy, @change) ON CONFLICT DO NOTHING`;

export const INSERT_KEPT_LINE = 'INSERT INTO kept_line (line, change) VALUES (?, ?) ON CONFLICT DO NOTHING';
export const DELETE_KEPT_LINE = 'DELETE FROM kept_line WHERE line = ?';
export const COUNT_KEPT_LINES = 'SELECT count(*) FROM kept_line';

export const SELECT_PEER = 'SELECT epoch, pulled, pushed FROM peer WHERE server = ?';
/** Restarts pull and push, because a claim that lost against a revoked claim may win now. */
export const RESTART_PEERS = 'UPDATE peer SET pulled = 0, pushed = 0';
export const PUT_PEER = `
  INSERT OR REPLACE INTO peer (server, epoch, pulled, pushed) VALUES (@server, @epoch, @pulled, @pushed)`;

const OLD_TRIALS = `
  SELECT r.number FROM ${SUBJECT_WITH_KEYS} JOIN trial AS r ON r.subject = s.id
  WHERE r.created_at < @before AND ${FITS}`;
const CLAIMS_OF_FILTER = `
  SELECT r.id FROM ${SUBJECT_WITH_KEYS} JOIN claim AS r ON r.subject = s.id WHERE ${FITS}`;

export const COUNT_OLD_TRIALS = `SELECT count(*) FROM (${OLD_TRIALS})`;
export const COUNT_OLD_RUNS = `SELECT count(*) FROM run WHERE trial IN (${OLD_TRIALS})`;
export const COUNT_CLAIMS = `SELECT count(*) FROM (${CLAIMS_OF_FILTER})`;
/** Before the trials, because runs refer to them. */
export const DELETE_OLD_RUNS = `DELETE FROM run WHERE trial IN (${OLD_TRIALS})`;
export const DELETE_OLD_TRIALS = `DELETE FROM trial WHERE number IN (${OLD_TRIALS})`;
export const DELETE_CLAIMS = `DELETE FROM claim WHERE id IN (${CLAIMS_OF_FILTER})`;

/** Deletes subjects and parts without references, except named devices. */
export const DELETE_UNNAMED = [
  `DELETE FROM subject WHERE ${['claim', 'mark', 'trial', 'miss', 'undecided']
    .map((table) => `NOT EXISTS (SELECT 1 FROM ${table} AS x WHERE x.subject = subject.id)`)
    .join(' AND ')}`,
  ...SUBJECT_PARTS.map(
    (part) =>
      `DELETE FROM ${part} WHERE id NOT IN (SELECT ${part} FROM subject)` +
      (part === 'device' ? ' AND id NOT IN (SELECT device FROM device_name)' : ''),
  ),
];

export const DELETE_REVOCATION = 'DELETE FROM revocation WHERE scope = @scope AND value = @value';
