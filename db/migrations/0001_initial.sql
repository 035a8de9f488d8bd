-- The first schema. Applied by src/store/migrate.ts in one transaction, which also sets user_version and application_id.
-- 9e999 is SQLite's spelling of infinity: "< 9e999" keeps a column finite. Not-a-number arrives as NULL and is refused.

-- What records are about: four kinds of things, each with a canonical key and the JSON description it was made from.

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

-- The columns of the UNIQUE constraint stand in the order of the look-up on a build: any device will do there.
CREATE TABLE subject (
  id       INTEGER PRIMARY KEY,
  workload INTEGER NOT NULL REFERENCES workload (id),
  target   INTEGER NOT NULL REFERENCES target (id),
  compiler INTEGER NOT NULL REFERENCES compiler (id),
  device   INTEGER NOT NULL REFERENCES device (id),
  UNIQUE (workload, target, compiler, device)
) STRICT;

-- The decision for a subject, at most one, with its evidence. Times are seconds, ratios are default over tuned.
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

-- Every tried configuration. Rows are only ever added.
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

-- Subjects that a build asked for in vain; the row goes when a record comes.
CREATE TABLE miss (
  subject      INTEGER PRIMARY KEY REFERENCES subject (id),
  count        INTEGER NOT NULL CHECK (count > 0),
  last_seen_at TEXT NOT NULL CHECK (last_seen_at GLOB '????-??-??T??:??:??*Z')
) STRICT;

-- Statistics by name. REAL so that seconds add up as well; whole numbers stay exact up to 2^53.
CREATE TABLE counter (
  name  TEXT PRIMARY KEY CHECK (name <> ''),
  value REAL NOT NULL CHECK (value > -9e999 AND value < 9e999)
) STRICT, WITHOUT ROWID;
