// The SQL of the store.
import { FIELDS, type PartType } from '../fields.ts';

export const SUBJECT_WITH_KEYS = `
  subject AS s
  JOIN workload AS w ON w.id = s.workload
  JOIN target AS t ON t.id = s.target
  JOIN device AS d ON d.id = s.device
  JOIN compiler AS c ON c.id = s.compiler`;

export const KEYS = 'w.key AS workload, t.key AS target, d.key AS device, c.key AS compiler';

const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Columns of the table `r`, under the names of the fields. */
export const columns = (fields: readonly string[]): string =>
  fields.map((field) => `r.${columnOf(field)} AS ${field}`).join(', ');

/** The end of an INSERT whose parameters have the names of the fields. */
export const into = (table: string, fields: readonly string[]): string =>
  `INTO ${table} (${fields.map(columnOf).join()}) VALUES (${fields.map((field) => `@${field}`).join()})`;

/** Columns of a claim. Marks and revocations are rare, so this only tells whether there are any. */
const RECORD_COLUMNS = `
  w.form AS workloadForm, ${columns(FIELDS.claim)},
  EXISTS (SELECT 1 FROM mark AS m WHERE m.subject = r.subject AND m.configuration = r.configuration) AS hasMarks,
  EXISTS (SELECT 1 FROM revocation) AS mayBeRevoked`;

/** Condition on the four keys of a subject. */
const WHERE_KEY = 'WHERE w.key = @workload AND t.key = @target AND d.key = @device AND c.key = @compiler';

export const SELECT_SUBJECT_ID = `SELECT s.id FROM ${SUBJECT_WITH_KEYS} ${WHERE_KEY}`;

export const selectPart = (part: PartType): string =>
  `SELECT form, ${part === 'workload' ? 'NULL AS own' : 'own'} FROM ${part} WHERE key = ?`;

export const putPart = (part: PartType): string =>
  `INSERT INTO ${part} (key, form) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET form = excluded.form`;

export const putOwnPart = (part: Exclude<PartType, 'workload'>): string =>
  `UPDATE ${part} SET own = ? WHERE key = ?`;

export const PLACE_WORKLOAD = `
  INSERT OR REPLACE INTO shape (workload, structure, place, log_batch, log_m, log_n, log_k)
  SELECT id, ?, ?, ?, ?, ?, ? FROM workload WHERE key = ?`;

export const INSERT_SUBJECT = `
  INSERT INTO subject (workload, target, device, compiler)
  SELECT w.id, t.id, d.id, c.id FROM workload AS w, target AS t, device AS d, compiler AS c ${WHERE_KEY}
  ON CONFLICT DO NOTHING`;

export const SELECT_SUBJECT = `
  SELECT ${KEYS}, w.form AS workloadForm, coalesce(t.own, t.form) AS targetForm,
         coalesce(d.own, d.form) AS deviceForm, coalesce(c.own, c.form) AS compilerForm
  FROM ${SUBJECT_WITH_KEYS} ${WHERE_KEY}`;

/**
 * Subjects of workloads for one target, and for one compiler or all others. The workloads are one JSON array without repetitions. CROSS JOIN reads it row by row,
 * because an index for it would take longer than the rest. `asked.key` is the index in the array.
 */
const askedSubjects = (compilers: '=' | 'IS NOT') => `
  json_each(@workloads) AS asked
  CROSS JOIN workload AS w ON w.key = asked.value
  CROSS JOIN subject AS s ON s.workload = w.id
    AND s.target = (SELECT id FROM target WHERE key = @target)
    AND s.compiler ${compilers} (SELECT id FROM compiler WHERE key = @compiler)`;

/** Column names of `FIND_RECORDS`, in order. */
export const FOUND_NAMES = [
  ...['place', 'subject', 'device', 'workloadForm', ...FIELDS.claim, 'hasMarks', 'mayBeRevoked'],
];

/** Omits the keys that the caller knows. */
export const FIND_RECORDS = `
  SELECT asked.key AS place, s.id AS subject, d.key AS device, ${RECORD_COLUMNS}
  FROM ${askedSubjects('=')}
  CROSS JOIN device AS d ON d.id = s.device
  CROSS JOIN claim AS r ON r.subject = s.id`;

/** The same for all compilers but one. */
export const FIND_OF_OTHER_COMPILERS = `
  SELECT r.subject, ${KEYS}, ${RECORD_COLUMNS}
  FROM ${askedSubjects('IS NOT')}
  CROSS JOIN target AS t ON t.id = s.target
  CROSS JOIN device AS d ON d.id = s.device
  CROSS JOIN compiler AS c ON c.id = s.compiler
  CROSS JOIN claim AS r ON r.subject = s.id`;

/** All claims, grouped by subject, the last subject first. */
export const ALL_RECORDS = `
  SELECT r.subject, ${KEYS}, ${RECORD_COLUMNS}
  FROM ${SUBJECT_WITH_KEYS} JOIN claim AS r ON r.subject = s.id
  ORDER BY r.subject DESC`;

export const CLAIMS = `
  SELECT r.subject, ${KEYS}, w.form AS workloadForm, ${columns(FIELDS.claim)}
  FROM ${SUBJECT_WITH_KEYS} JOIN claim AS r ON r.subject = s.id`;

export const SELECT_CLAIM = `${CLAIMS} WHERE r.subject = ? AND r.configuration = ?`;

export const PUT_CLAIM = `INSERT OR REPLACE ${into('claim', ['subject', ...FIELDS.claim])}`;

/** Of two marks that differ only in time and reason, the earlier stays. */
export const PUT_MARK = `
  INSERT ${into('mark', ['subject', ...FIELDS.mark])}
  ON CONFLICT DO UPDATE SET reason = excluded.reason, created_at = excluded.created_at
  WHERE (excluded.created_at, excluded.reason) < (created_at, reason)`;

export const SELECT_MARKS = `
  SELECT ${columns(FIELDS.mark)}
  FROM mark AS r WHERE subject = (${SELECT_SUBJECT_ID})
  ORDER BY created_at, configuration, kind, generation, created_by, machine, tool`;

/** Includes revoked marks, because their generations count. */
export const SELECT_MARKS_OF_CONFIGURATION = `
  SELECT ${columns(FIELDS.mark)} FROM mark AS r WHERE subject = ? AND configuration = ?`;

export const SELECT_REVOCATIONS = `
  SELECT ${columns(FIELDS.revocation)} FROM revocation AS r ORDER BY scope, value, reason`;

export const INSERT_TRIAL = `INSERT ${into('trial', ['subject', ...FIELDS.trial])}`;

export const SELECT_TRIALS = `
  SELECT ${columns(FIELDS.trial)} FROM trial AS r WHERE subject = (${SELECT_SUBJECT_ID}) ORDER BY number`;

/** Shapes of one structure on one side of a place, the nearest first. */
const nextTo = (side: '>=' | '<', order: 'ASC' | 'DESC') => `
  SELECT * FROM (SELECT * FROM shape WHERE structure = @structure AND place ${side} @place ORDER BY place ${order} LIMIT @width)`;

/**
 * The fastest trials of the nearest subjects of one target, without the subject itself. The distance is that of the sizes plus penalties for
 * another device or compiler. Devices are a JSON array of keys. CROSS JOIN keeps the order of `near`, so LIMIT skips most subjects.
 */
export const TRIALS_LIKE = `
  WITH near AS MATERIALIZED (
    SELECT workload, sqrt((log_batch - @batch) * (log_batch - @batch) + (log_m - @m) * (log_m - @m)
                        + (log_n - @n) * (log_n - @n) + (log_k - @k) * (log_k - @k)) AS apart
    FROM (${nextTo('>=', 'ASC')} UNION ALL ${nextTo('<', 'DESC')})
    ORDER BY apart, workload
  ),
  tried AS MATERIALIZED (
    SELECT s.id, s.workload, s.device, s.compiler, near.apart
    FROM near
    CROSS JOIN subject AS s ON s.workload = near.workload AND s.target = (SELECT id FROM target WHERE key = @target)
    WHERE s.device IN (SELECT d.id FROM json_each(@devices) AS given CROSS JOIN device AS d ON d.key = given.value)
      AND s.id IS NOT (${SELECT_SUBJECT_ID})
      AND EXISTS (SELECT 1 FROM trial WHERE subject = s.id AND ratio > 0)
    LIMIT 2 * @subjects
  ),
  alike AS MATERIALIZED (
    SELECT s.id, s.workload, s.device, s.compiler, s.apart
           + CASE WHEN s.device IS (SELECT id FROM device WHERE key = @device) THEN 0 ELSE @otherDevice END
           + CASE WHEN s.compiler IS (SELECT id FROM compiler WHERE key = @compiler) THEN 0 ELSE @otherCompiler END AS distance
    FROM tried AS s
    ORDER BY distance, s.id LIMIT @subjects
  )
  SELECT a.id AS subject, w.form AS workloadForm, d.key AS device, c.key AS compiler, a.distance, ${columns(FIELDS.trial)}
  FROM alike AS a
  CROSS JOIN workload AS w ON w.id = a.workload
  CROSS JOIN device AS d ON d.id = a.device
  CROSS JOIN compiler AS c ON c.id = a.compiler
  CROSS JOIN trial AS r ON r.number IN (
    SELECT number FROM trial WHERE subject = a.id AND ratio > 0 ORDER BY ratio DESC LIMIT @trials)
  ORDER BY a.distance, a.id, r.ratio DESC, r.number`;

/** The last trial of a configuration from this origin. */
export const SELECT_OWN_TRIAL = `
  SELECT max(number) FROM trial
  WHERE subject = @subject AND configuration = @configuration AND created_by = @createdBy AND machine = @machine`;

export const INSERT_RUN = `INSERT ${into('run', ['trial', ...FIELDS.run])}`;

export const SELECT_RUNS = `
  SELECT t.configuration, ${columns(FIELDS.run)}, t.created_by AS createdBy, t.machine, t.tool
  FROM trial AS t JOIN run AS r ON r.trial = t.number
  WHERE t.subject = (${SELECT_SUBJECT_ID}) ORDER BY r.id`;

export const NOTE_MISS = `
  INSERT INTO miss (subject, count, last_seen_at) VALUES (?, 1, ?)
  ON CONFLICT (subject) DO UPDATE SET count = count + 1, last_seen_at = excluded.last_seen_at`;

export const DELETE_MISS = 'DELETE FROM miss WHERE subject = ?';

export const SELECT_MISSES = `
  SELECT ${KEYS}, m.count, m.last_seen_at AS lastSeenAt
  FROM ${SUBJECT_WITH_KEYS} JOIN miss AS m ON m.subject = s.id
  ORDER BY m.count DESC, m.last_seen_at DESC, m.subject DESC`;

/** Keeps the reason of the attempt with the largest budget. */
export const NOTE_UNDECIDED = `
  INSERT INTO undecided (subject, reason, budget_seconds, attempts, last_tried_at)
  VALUES (@subject, @reason, @budgetSeconds, 1, @triedAt)
  ON CONFLICT (subject) DO UPDATE SET
    reason = CASE WHEN excluded.budget_seconds >= budget_seconds THEN excluded.reason ELSE reason END,
    budget_seconds = max(budget_seconds, excluded.budget_seconds),
    attempts = attempts + 1,
    last_tried_at = excluded.last_tried_at`;

export const FIND_UNDECIDED = `
  SELECT w.key AS workload, u.reason, u.budget_seconds AS budgetSeconds, u.attempts, u.last_tried_at AS lastTriedAt
  FROM ${askedSubjects('=')} AND s.device = (SELECT id FROM device WHERE key = @device)
  CROSS JOIN undecided AS u ON u.subject = s.id`;

export const DELETE_UNDECIDED = 'DELETE FROM undecided WHERE subject = ?';

const NOTES =
  'SELECT program, note, created_by AS createdBy, machine, tool FROM program_note WHERE kind = @kind';

/** The latest first. */
export const SELECT_PROGRAM_NOTES = `${NOTES} AND program = @program ORDER BY written_at DESC, note DESC`;

export const HAS_PROGRAM_NOTES = `
  SELECT 1 FROM program_note WHERE kind IN (SELECT value FROM json_each(@kinds)) LIMIT 1`;

export const ALL_PROGRAM_NOTES = `${NOTES} ORDER BY written_at DESC, program, note DESC`;

/** Replaces the note of the origin. */
export const PUT_NOTE = `INSERT OR REPLACE ${into('program_note', FIELDS.note)}`;

export const SELECT_DEVICES = `
  SELECT d.key, coalesce(d.own, d.form) AS form, n.name
  FROM device AS d LEFT JOIN device_name AS n ON n.device = d.id ORDER BY d.key`;

/** Deletes the name, and any other name of the device. */
export const DELETE_DEVICE_NAME = `
  DELETE FROM device_name WHERE name = @name OR device = (SELECT id FROM device WHERE key = @key)`;

export const INSERT_DEVICE_NAME = `
  INSERT INTO device_name (device, name) SELECT id, @name FROM device WHERE key = @key`;

/** All statements that read. A newer schema that supports them is readable. */
export const READS = [
  ...[
    FIND_RECORDS,
    FIND_OF_OTHER_COMPILERS,
    ALL_RECORDS,
    SELECT_REVOCATIONS,
    SELECT_SUBJECT,
    SELECT_DEVICES,
    SELECT_PROGRAM_NOTES,
    HAS_PROGRAM_NOTES,
  ],
  ...[SELECT_MARKS, SELECT_MARKS_OF_CONFIGURATION, SELECT_TRIALS, TRIALS_LIKE, SELECT_RUNS, SELECT_MISSES],
  FIND_UNDECIDED,
];
