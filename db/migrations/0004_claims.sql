-- Databases can merge: evidence is stored for each configuration with its origin, marks have generations, trials have ids, and revocations
-- hide rows. claim_digest, trial_id and plain are functions of src/store/sqlite/migration-functions.ts.

-- One row: the number of the last change. Rows for the next push have higher numbers than the last pushed one. Rows from a server have none.
CREATE TABLE change (
  last INTEGER NOT NULL
) STRICT;
INSERT INTO change VALUES (0);

-- Evidence for one configuration of a subject. Readers compute the decision. Earlier records get no origin, and version 1 of evidence.
CREATE TABLE claim (
  id              INTEGER PRIMARY KEY,
  subject         INTEGER NOT NULL REFERENCES subject (id),
  configuration   TEXT NOT NULL CHECK (json_valid(configuration) AND length(configuration) <= 4096),
  version         INTEGER NOT NULL CHECK (version > 0),
  confidence      REAL NOT NULL CHECK (confidence > 0 AND confidence < 1),
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
  machine         TEXT NOT NULL,
  tool            TEXT NOT NULL,
  digest          TEXT NOT NULL CHECK (length(digest) = 64),
  change          INTEGER,
  UNIQUE (subject, configuration),
  CHECK (low <= ratio AND ratio <= high)
) STRICT;

INSERT OR IGNORE INTO claim (subject, configuration, version, confidence, ratio, low, high, default_seconds, seconds,
  processes, repetitions, noise_floor, max_error, trials, tuning_seconds, families, complete, created_at, created_by,
  machine, tool, digest, change)
SELECT r.subject, r.configuration, 1, 0.99, r.ratio, r.low, r.high, r.default_seconds, r.seconds,
       r.processes, r.repetitions, r.noise_floor, r.max_error, r.trials, r.tuning_seconds, r.families, r.complete,
       r.created_at, plain(r.created_by, 256), 'unknown', 'unknown',
       claim_digest(w.key, t.key, d.key, c.key, r.configuration, 1, 0.99, r.ratio, r.low, r.high, r.default_seconds,
         r.seconds, r.processes, r.repetitions, r.noise_floor, r.max_error, r.complete, r.created_at,
         plain(r.created_by, 256), 'unknown', 'unknown'),
       row_number() OVER (ORDER BY r.subject)
FROM record AS r
JOIN subject AS s ON s.id = r.subject
JOIN workload AS w ON w.id = s.workload
JOIN target AS t ON t.id = s.target
JOIN device AS d ON d.id = s.device
JOIN compiler AS c ON c.id = s.compiler;

DROP TABLE record;
CREATE INDEX claim_by_change ON claim (change) WHERE change IS NOT NULL;

-- The same table with generations and origins.
CREATE TABLE new_mark (
  subject       INTEGER NOT NULL REFERENCES subject (id),
  configuration TEXT NOT NULL CHECK (
                  json_valid(configuration) AND json_extract(configuration, '$.kind') <> 'default'
                  AND length(configuration) <= 4096),
  generation    INTEGER NOT NULL CHECK (generation >= 0),
  kind          TEXT NOT NULL CHECK (kind IN ('compile-error', 'wrong-result', 'slower', 'lifted')),
  reason        TEXT NOT NULL,
  created_at    TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??*Z'),
  created_by    TEXT NOT NULL,
  machine       TEXT NOT NULL,
  tool          TEXT NOT NULL,
  change        INTEGER,
  PRIMARY KEY (subject, configuration, generation, kind, created_by, machine, tool)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO new_mark
SELECT subject, configuration, 0, kind, plain(reason, 4096), created_at, plain(created_by, 256), 'unknown', 'unknown',
       (SELECT count(*) FROM claim) + row_number() OVER (ORDER BY subject, configuration, kind)
FROM mark;

DROP TABLE mark;
ALTER TABLE new_mark RENAME TO mark;
CREATE INDEX mark_by_change ON mark (change) WHERE change IS NOT NULL;

-- The same table with ids and origins. An id is a digest of the trial and its index among equal trials, so copies of a database get equal ids.
CREATE TABLE new_trial (
  number        INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE CHECK (length(id) = 32),
  subject       INTEGER NOT NULL REFERENCES subject (id),
  configuration TEXT NOT NULL CHECK (json_valid(configuration) AND length(configuration) <= 4096),
  outcome       TEXT NOT NULL
                CHECK (outcome IN ('measured', 'compile-error', 'run-error', 'timeout', 'wrong-result')),
  seconds       REAL CHECK (seconds > 0 AND seconds < 9e999),
  ratio         REAL CHECK (ratio > 0 AND ratio < 9e999),
  message       TEXT,
  strategy      TEXT NOT NULL,
  created_at    TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??*Z'),
  created_by    TEXT NOT NULL,
  machine       TEXT NOT NULL,
  tool          TEXT NOT NULL,
  change        INTEGER,
  CHECK ((outcome = 'measured') = (seconds IS NOT NULL)),
  CHECK (outcome = 'measured' OR ratio IS NULL)
) STRICT;

INSERT OR IGNORE INTO new_trial
SELECT r.id,
       trial_id(w.key, t.key, d.key, c.key, r.configuration, r.outcome, r.seconds, r.ratio, r.message, r.strategy,
         r.created_at, row_number() OVER (
           PARTITION BY r.subject, r.configuration, r.outcome, r.seconds, r.ratio, r.message, r.strategy, r.created_at
           ORDER BY r.id)),
       r.subject, r.configuration, r.outcome, r.seconds, r.ratio, plain(r.message, 4096), r.strategy, r.created_at,
       'unknown', 'unknown', 'unknown',
       (SELECT count(*) FROM claim) + (SELECT count(*) FROM mark) + row_number() OVER (ORDER BY r.id)
FROM trial AS r
JOIN subject AS s ON s.id = r.subject
JOIN workload AS w ON w.id = s.workload
JOIN target AS t ON t.id = s.target
JOIN device AS d ON d.id = s.device
JOIN compiler AS c ON c.id = s.compiler;

CREATE TABLE new_run (
  id              INTEGER PRIMARY KEY,
  trial           INTEGER NOT NULL REFERENCES new_trial (number),
  stage           TEXT NOT NULL CHECK (stage IN ('search', 'finals')),
  batch           INTEGER NOT NULL CHECK (batch >= 0),
  placement       TEXT NOT NULL CHECK (placement IN ('apart', 'packed')),
  build           INTEGER NOT NULL CHECK (build >= 0),
  seconds         TEXT NOT NULL CHECK (json_valid(seconds) AND json_type(seconds) = 'array'),
  default_seconds TEXT CHECK (json_valid(default_seconds) AND json_type(default_seconds) = 'array')
) STRICT;

INSERT OR IGNORE INTO new_run SELECT * FROM run WHERE trial IN (SELECT number FROM new_trial);

DROP TABLE run;
DROP TABLE trial;
ALTER TABLE new_trial RENAME TO trial;
ALTER TABLE new_run RENAME TO run;
CREATE INDEX trial_of_subject ON trial (subject);
CREATE INDEX trial_by_change ON trial (change) WHERE change IS NOT NULL;
CREATE INDEX run_of_trial ON run (trial);

-- Revocations: a claim by digest, a version of this program, a user or a machine. Append-only.
CREATE TABLE revocation (
  scope      TEXT NOT NULL CHECK (scope IN ('record', 'tool', 'origin')),
  value      TEXT NOT NULL CHECK (value <> ''),
  reason     TEXT NOT NULL,
  created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??*Z'),
  created_by TEXT NOT NULL,
  change     INTEGER,
  PRIMARY KEY (scope, value, reason, created_at, created_by)
) STRICT, WITHOUT ROWID;

-- Lines of later versions, verbatim: forwarded to others, and not read.
CREATE TABLE kept_line (
  line   TEXT PRIMARY KEY CHECK (json_valid(line)),
  change INTEGER
) STRICT, WITHOUT ROWID;

-- Positions of pull and push for each team's server.
CREATE TABLE peer (
  server TEXT PRIMARY KEY CHECK (server <> ''),
  epoch  TEXT NOT NULL,
  pulled INTEGER NOT NULL CHECK (pulled >= 0),
  pushed INTEGER NOT NULL CHECK (pushed >= 0)
) STRICT, WITHOUT ROWID;

UPDATE change SET last =
  (SELECT max(coalesce((SELECT max(change) FROM claim), 0), coalesce((SELECT max(change) FROM mark), 0),
    coalesce((SELECT max(change) FROM trial), 0)));
