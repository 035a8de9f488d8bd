-- The first schema. src/store/sqlite/migrate.ts applies it in one transaction, and sets user_version and application_id.
-- 9e999 is SQLite's infinity, so "< 9e999" keeps a column finite. NaN arrives as NULL and is refused.

-- Parts of subjects: a canonical key, and the JSON description behind it.

CREATE TABLE workload (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
) STRICT;

CREATE TABLE target (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
) STRICT;

CREATE TABLE device (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
) STRICT;

CREATE TABLE compiler (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
) STRICT;

-- The order of the UNIQUE constraint serves a build's look-up, which accepts any device.
CREATE TABLE subject (
  id       INTEGER PRIMARY KEY,
  workload INTEGER NOT NULL REFERENCES workload (id),
  target   INTEGER NOT NULL REFERENCES target (id),
  compiler INTEGER NOT NULL REFERENCES compiler (id),
  device   INTEGER NOT NULL REFERENCES device (id),
  UNIQUE (workload, target, compiler, device)
) STRICT;

-- At most one decision for a subject, with its evidence. Times are seconds; ratios are default divided by tuned time.
CREATE TABLE record (
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
  complete        INTEGER NOT NULL CHECK (complete IN (0, 1)),
  failure         TEXT,
  created_at      TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??*Z'),
  created_by      TEXT NOT NULL,
  CHECK (low <= ratio AND ratio <= high)
) STRICT;

-- Every tried configuration. Append-only.
CREATE TABLE trial (
  id            INTEGER PRIMARY KEY,
  subject       INTEGER NOT NULL REFERENCES subject (id),
  configuration TEXT NOT NULL CHECK (json_valid(configuration)),
  outcome       TEXT NOT NULL
                CHECK (outcome IN ('measured', 'compile-error', 'run-error', 'timeout', 'wrong-result')),
  seconds       REAL CHECK (seconds > 0 AND seconds < 9e999),
  ratio         REAL CHECK (ratio > 0 AND ratio < 9e999),
  message       TEXT,
  strategy      TEXT NOT NULL,
  created_at    TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??*Z'),
  CHECK ((outcome = 'measured') = (seconds IS NOT NULL)),
  CHECK (outcome = 'measured' OR ratio IS NULL)
) STRICT;

CREATE INDEX trial_of_subject ON trial (subject);

-- Misses of builds. A record deletes the row.
CREATE TABLE miss (
  subject      INTEGER PRIMARY KEY REFERENCES subject (id),
  count        INTEGER NOT NULL CHECK (count > 0),
  last_seen_at TEXT NOT NULL CHECK (last_seen_at GLOB '????-??-??T??:??:??*Z')
) STRICT;

-- Counters by name. REAL, for seconds; integers are exact up to 2^53.
CREATE TABLE counter (
  name  TEXT PRIMARY KEY CHECK (name <> ''),
  value REAL NOT NULL CHECK (value > -9e999 AND value < 9e999)
) STRICT, WITHOUT ROWID;
