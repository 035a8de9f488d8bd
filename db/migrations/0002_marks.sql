-- Marks belong to configurations and outlive records. Undecided subjects are stored. A record has the families of its search.

-- All earlier workloads are contractions.
UPDATE workload SET form = json_set(form, '$.kind', 'contraction')
WHERE CASE WHEN json_valid(form) THEN json_type(form) = 'object' AND json_extract(form, '$.kind') IS NULL ELSE FALSE END;

-- Marks: forbidden configurations of a subject. Append-only, so databases merge by union. The default cannot be marked.
CREATE TABLE mark (
  subject       INTEGER NOT NULL REFERENCES subject (id),
  configuration TEXT NOT NULL
                CHECK (json_valid(configuration) AND json_extract(configuration, '$.kind') <> 'default'),
  kind          TEXT NOT NULL CHECK (kind IN ('compile-error', 'wrong-result', 'slower')),
  reason        TEXT NOT NULL,
  created_at    TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??*Z'),
  created_by    TEXT NOT NULL,
  PRIMARY KEY (subject, configuration, kind)
) STRICT, WITHOUT ROWID;

-- Earlier versions marked whole records, and only after a failed compile, at an unknown time.
INSERT OR IGNORE INTO mark (subject, configuration, kind, reason, created_at, created_by)
SELECT subject, configuration, 'compile-error',
       CASE WHEN failure LIKE 'compile failed: %' THEN substr(failure, length('compile failed: ') + 1) ELSE failure END,
       created_at, created_by
FROM record WHERE failure IS NOT NULL;

-- Undecided subjects. A record deletes the row. The budget in seconds and the reason are those of the attempt with the largest budget.
CREATE TABLE undecided (
  subject        INTEGER PRIMARY KEY REFERENCES subject (id),
  reason         TEXT NOT NULL,
  budget_seconds REAL NOT NULL CHECK (budget_seconds >= 0 AND budget_seconds < 9e999),
  attempts       INTEGER NOT NULL CHECK (attempts > 0),
  last_tried_at  TEXT NOT NULL CHECK (last_tried_at GLOB '????-??-??T??:??:??*Z')
) STRICT;

-- The same table with `families` and without `failure`.
CREATE TABLE new_record (
  subject         INTEGER PRIMARY KEY REFERENCES subject (id),
  configuration   TEXT NOT NULL CHECK (json_valid(configuration)),
  ratio           REAL NOT NULL CHECK (ratio > 0 AND ratio < 9e999),
  low             REAL NOT NULL CHECK (low > 0 AND low < 9e999),
  high            REAL NOT NULL CHECK (high > 0 AND high < 9e999),
  default_seconds REAL NOT NULL CHECK (default_seconds > 0 AND default_seconds < 9e999),
  seconds         REAL NOT NULL CHECK (seconds > 0 AND seconds < 9e999),
  processes       INTEGER NOT NULL CHECK (processes > 0),
  repetitions     INTEGER NOT NULL CHECK (repetitions > 0),
  noise_floor     REAL NOT NULL CHECK (noise_floor >= 0 AND noise_floor < 9e999),
  max_error       REAL NOT NULL CHECK (max_error >= 0 AND max_error < 9e999),
  trials          INTEGER NOT NULL CHECK (trials >= 0),
  tuning_seconds  REAL NOT NULL CHECK (tuning_seconds >= 0 AND tuning_seconds < 9e999),
  families        TEXT NOT NULL CHECK (json_valid(families) AND json_type(families) = 'array'),
  complete        INTEGER NOT NULL CHECK (complete IN (0, 1)),
  created_at      TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??*Z'),
  created_by      TEXT NOT NULL,
  CHECK (low <= ratio AND ratio <= high)
) STRICT;

-- Every search tried tiles. A search with data tiling tried it in its first batch. Invalid rows, which no reader accepts, are dropped.
INSERT OR IGNORE INTO new_record (subject, configuration, ratio, low, high, default_seconds, seconds, processes,
  repetitions, noise_floor, max_error, trials, tuning_seconds, families, complete, created_at, created_by)
SELECT subject, configuration, ratio, low, high, default_seconds, seconds, processes,
       repetitions, noise_floor, max_error, trials, tuning_seconds,
       CASE WHEN EXISTS (
         SELECT 1 FROM trial AS t
         WHERE t.subject = record.subject
           AND CASE WHEN json_valid(t.configuration) THEN json_extract(t.configuration, '$.kind') END = 'data-tile'
       ) THEN '["data-tile","tile"]' ELSE '["tile"]' END,
       complete, created_at, created_by
FROM record;

DROP TABLE record;
ALTER TABLE new_record RENAME TO record;
