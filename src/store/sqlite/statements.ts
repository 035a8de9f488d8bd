// The SQL of the store.

export const SUBJECT_WITH_KEYS = `
  subject AS s
  JOIN workload AS w ON w.id = s.workload
  JOIN target AS t ON t.id = s.target
  JOIN device AS d ON d.id = s.device
  JOIN compiler AS c ON c.id = s.compiler`;

export const KEYS = 'w.key AS workload, t.key AS target, d.key AS device, c.key AS compiler';

const CLAIM_NAMES = [
  ...[
    'configuration',
    'version',
    'confidence',
    'ratio',
    'low',
    'high',
    'default_seconds',
    'seconds',
    'processes',
  ],
  ...[
    'repetitions',
    'noise_floor',
    'max_error',
    'trials',
    'tuning_seconds',
    'families',
    'complete',
    'created_at',
  ],
  ...['created_by', 'machine', 'tool', 'digest'],
];

export const CLAIM_COLUMNS = CLAIM_NAMES.map((name) => `r.${name}`).join(', ');

/** Columns of a claim. Marks and revocations are rare, so this only tells whether there are any. */
const RECORD_COLUMNS = `
  w.form AS workload_form, ${CLAIM_COLUMNS},
  EXISTS (SELECT 1 FROM mark AS m WHERE m.subject = r.subject AND m.configuration = r.configuration) AS has_marks,
  EXISTS (SELECT 1 FROM revocation) AS may_be_revoked`;

/** Condition on the four keys of a subject. */
const WHERE_KEY = 'WHERE w.key = @workload AND t.key = @target AND d.key = @device AND c.key = @compiler';

const SUBJECT_ID = `SELECT s.id FROM ${SUBJECT_WITH_KEYS} ${WHERE_KEY}`;

export const SUBJECT_PARTS = ['workload', 'target', 'device', 'compiler'] as const;

type Part = (typeof SUBJECT_PARTS)[number];

const hasOwn = (part: Part) => part !== 'workload';

export const selectPart = (part: Part): string =>
  `SELECT form, ${hasOwn(part) ? 'own' : 'NULL AS own'} FROM ${part} WHERE key = ?`;

export const putPart = (part: Part): string =>
  `INSERT INTO ${part} (key, form) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET form = excluded.form`;

export const putOwnPart = (part: Exclude<Part, 'workload'>): string =>
  `UPDATE ${part} SET own = ? WHERE key = ?`;

export const PLACE_WORKLOAD = `
  INSERT OR REPLACE INTO shape (workload, structure, place, log_batch, log_m, log_n, log_k)
  SELECT id, ?, ?, ?, ?, ?, ? FROM workload WHERE key = ?`;

export const INSERT_SUBJECT = `
  INSERT INTO subject (workload, target, device, compiler)
  SELECT w.id, t.id, d.id, c.id FROM workload AS w, target AS t, device AS d, compiler AS c ${WHERE_KEY}
  ON CONFLICT DO NOTHING`;

export const SELECT_SUBJECT_ID = SUBJECT_ID;

export const SELECT_SUBJECT = `
  SELECT ${KEYS}, w.form AS workload_form, coalesce(t.own, t.form) AS target_form,
         coalesce(d.own, d.form) AS device_form, coalesce(c.own, c.form) AS compiler_form
  FROM ${SUBJECT_WITH_KEYS} ${WHERE_KEY}`;

/**
 * Subjects of workloads for one target and compiler. The workloads are one JSON array without repetitions. CROSS JOIN reads it row by row,
 * because an index for it would take longer than the rest. `asked.key` is the index in the array.
 */
const ASKED_SUBJECTS = `
  json_each(@workloads) AS asked
  CROSS JOIN workload AS w ON w.key = asked.value
  CROSS JOIN subject AS s ON s.workload = w.id
    AND s.target = (SELECT id FROM target WHERE key = @target)
    AND s.compiler = (SELECT id FROM compiler WHERE key = @compiler)`;

/** Column names of `FIND_RECORDS`, in order. */
export const FOUND_NAMES = [
  ...['place', 'subject', 'device', 'workload_form', ...CLAIM_NAMES, 'has_marks', 'may_be_revoked'],
];

/** Omits the keys that the caller knows. */
export const FIND_RECORDS = `
  SELECT asked.key AS place, s.id AS subject, d.key AS device, ${RECORD_COLUMNS}
  FROM ${ASKED_SUBJECTS}
  CROSS JOIN device AS d ON d.id = s.device
  CROSS JOIN claim AS r ON r.subject = s.id`;

/** The same for all compilers but one. */
export const FIND_OF_OTHER_COMPILERS = `
  SELECT r.subject, ${KEYS}, ${RECORD_COLUMNS}
  FROM json_each(@workloads) AS asked
  CROSS JOIN workload AS w ON w.key = asked.value
  CROSS JOIN subject AS s ON s.workload = w.id
    AND s.target = (SELECT id FROM target WHERE key = @target)
    AND s.compiler IS NOT (SELECT id FROM compiler WHERE key = @compiler)
  CROSS JOIN target AS t ON t.id = s.target
  CROSS JOIN device AS d ON d.id = s.device
  CROSS JOIN compiler AS c ON c.id = s.compiler
  CROSS JOIN claim AS r ON r.subject = s.id`;

/** All claims, grouped by subject, the last subject first. */
export const ALL_RECORDS = `
  SELECT r.subject, ${KEYS}, ${RECORD_COLUMNS}
  FROM ${SUBJECT_WITH_KEYS} JOIN claim AS r ON r.subject = s.id
  ORDER BY r.subject DESC`;

export const SELECT_CLAIM = `
  SELECT ${KEYS}, w.form AS workload_form, ${CLAIM_COLUMNS}, r.change
  FROM ${SUBJECT_WITH_KEYS} JOIN claim AS r ON r.subject = s.id
  WHERE r.subject = ? AND r.configuration = ?`;

export const PUT_CLAIM = `
  INSERT OR REPLACE INTO claim (subject, configuration, version, confidence, ratio, low, high, default_seconds, seconds,
    processes, repetitions, noise_floor, max_error, trials, tuning_seconds, families, complete, created_at, created_by,
    machine, tool, digest, change)
  VALUES (@subject, @configuration, @version, @confidence, @ratio, @low, @high, @defaultSeconds, @seconds,
    @processes, @repetitions, @noiseFloor, @maxError, @trials, @tuningSeconds, @families, @complete, @createdAt, @createdBy,
    @machine, @tool, @digest, @change)`;

/** Number for a row that the next push sends. */
export const NEXT_CHANGE = 'UPDATE change SET last = last + 1 RETURNING last';

/** Of two marks that differ only in time and reason, the earlier stays. */
export const PUT_MARK = `
  INSERT INTO mark (subject, configuration, generation, kind, reason, created_at, created_by, machine, tool, change)
  VALUES (@subject, @configuration, @generation, @kind, @reason, @createdAt, @createdBy, @machine, @tool, @change)
  ON CONFLICT DO UPDATE SET reason = excluded.reason, created_at = excluded.created_at, change = excluded.change
  WHERE (excluded.created_at, excluded.reason) < (created_at, reason)`;

const MARK_COLUMNS = 'configuration, generation, kind, reason, created_at, created_by, machine, tool';

export const SELECT_MARKS = `
  SELECT ${MARK_COLUMNS}
  FROM mark WHERE subject = (${SUBJECT_ID})
  ORDER BY created_at, configuration, kind, generation, created_by, machine, tool`;

/** Includes revoked marks, because their generations count. */
export const SELECT_MARKS_OF_CONFIGURATION = `
  SELECT ${MARK_COLUMNS} FROM mark WHERE subject = ? AND configuration = ?`;

export const SELECT_REVOCATIONS = `
  SELECT scope, value, reason, created_at, created_by FROM revocation ORDER BY scope, value, reason`;

export const INSERT_TRIAL = `
  INSERT INTO trial (id, subject, configuration, outcome, seconds, ratio, message, strategy, created_at, created_by,
    machine, tool, change)
  VALUES (@id, @subject, @configuration, @outcome, @seconds, @ratio, @message, @strategy, @createdAt, @createdBy,
    @machine, @tool, @change)`;

export const SELECT_TRIALS = `
  SELECT configuration, outcome, seconds, ratio, message, strategy, created_by, machine, tool
  FROM trial WHERE subject = (${SUBJECT_ID}) ORDER BY number`;

/** Shapes of one structure on one side of a place, the nearest first. */
const nextTo = (side: '>=' | '<', order: 'ASC' | 'DESC') => `
  SELECT * FROM (SELECT * FROM shape WHERE structure = @structure AND place ${side} @place ORDER BY place ${order} LIMIT @width)`;

/**
 * The fastest trials of the nearest subjects of one target, without the subject itself. The distance is that of the sizes plus penalties for
 * another device or compiler. Devices are a JSON array of keys.
 */
export const TRIALS_LIKE = `
  WITH near AS MATERIALIZED (
    SELECT workload, sqrt((log_batch - @batch) * (log_batch - @batch) + (log_m - @m) * (log_m - @m)
                        + (log_n - @n) * (log_n - @n) + (log_k - @k) * (log_k - @k)) AS apart
    FROM (${nextTo('>=', 'ASC')} UNION ALL ${nextTo('<', 'DESC')})
    ORDER BY apart, workload
  ),
  -- CROSS JOIN keeps the order of near, so LIMIT skips most subjects.
  tried AS MATERIALIZED (
    SELECT s.id, s.workload, s.device, s.compiler, near.apart
    FROM near
    CROSS JOIN subject AS s ON s.workload = near.workload AND s.target = (SELECT id FROM target WHERE key = @target)
    WHERE s.device IN (SELECT d.id FROM json_each(@devices) AS given CROSS JOIN device AS d ON d.key = given.value)
      AND s.id IS NOT (${SUBJECT_ID})
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
  SELECT a.id AS subject, w.form AS workload_form, d.key AS device, c.key AS compiler, a.distance,
         r.configuration, r.outcome, r.seconds, r.ratio, r.message, r.strategy, r.created_by, r.machine, r.tool
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

export const CHANGE_TRIAL = 'UPDATE trial SET change = ? WHERE number = ?';

export const INSERT_RUN = `
  INSERT INTO run (trial, stage, batch, placement, build, seconds, default_seconds)
  VALUES (@trial, @stage, @batch, @placement, @build, @seconds, @defaultSeconds)`;

export const SELECT_RUNS = `
  SELECT r.configuration, o.stage, o.batch, o.placement, o.build, o.seconds, o.default_seconds, r.created_by, r.machine,
         r.tool
  FROM trial AS r JOIN run AS o ON o.trial = r.number
  WHERE r.subject = (${SUBJECT_ID}) ORDER BY o.id`;

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
  FROM ${ASKED_SUBJECTS} AND s.device = (SELECT id FROM device WHERE key = @device)
  CROSS JOIN undecided AS u ON u.subject = s.id`;

export const DELETE_UNDECIDED = 'DELETE FROM undecided WHERE subject = ?';

export const SELECT_PROGRAM_NOTE = 'SELECT note FROM program_note WHERE program = @program AND kind = @kind';

export const NOTE_PROGRAM = `
  INSERT INTO program_note (program, kind, note, written_at) VALUES (@program, @kind, @note, @writtenAt)
  ON CONFLICT (program, kind) DO UPDATE SET note = excluded.note, written_at = excluded.written_at`;

export const SELECT_DEVICES = `
  SELECT d.key, coalesce(d.own, d.form) AS form, n.name
  FROM device AS d LEFT JOIN device_name AS n ON n.device = d.id ORDER BY d.key`;

/** Deletes the name, and any other name of the device. */
export const DELETE_DEVICE_NAME = `
  DELETE FROM device_name WHERE name = @name OR device = (SELECT id FROM device WHERE key = @key)`;

export const INSERT_DEVICE_NAME = `
  INSERT INTO device_name (device, name) SELECT id, @name FROM device WHERE key = @key`;

export const ADD_TO_COUNTER = `
  INSERT INTO counter (name, value) VALUES (?, ?)
  ON CONFLICT (name) DO UPDATE SET value = value + excluded.value`;

export const SELECT_COUNTERS = 'SELECT name, value FROM counter ORDER BY name';

export const DELETE_COUNTERS = 'DELETE FROM counter RETURNING name, value';

/** All statements that read. A newer schema that supports them is readable. */
export const READS = [
  ...[
    FIND_RECORDS,
    FIND_OF_OTHER_COMPILERS,
    ALL_RECORDS,
    SELECT_REVOCATIONS,
    SELECT_SUBJECT,
    SELECT_DEVICES,
    SELECT_PROGRAM_NOTE,
  ],
  ...[SELECT_MARKS, SELECT_MARKS_OF_CONFIGURATION, SELECT_TRIALS, TRIALS_LIKE, SELECT_RUNS, SELECT_MISSES],
  ...[FIND_UNDECIDED, SELECT_COUNTERS],
];
