CREATE TABLE change (
  last INTEGER NOT NULL
) STRICT
;
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
) STRICT
;
CREATE INDEX claim_by_change ON claim (change) WHERE change IS NOT NULL
;
CREATE TABLE compiler (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
, own TEXT CHECK (json_valid(own))) STRICT
;
CREATE TABLE counter (
  name  TEXT PRIMARY KEY CHECK (name <> ''),
  value REAL NOT NULL CHECK (value > -9e999 AND value < 9e999)
) STRICT, WITHOUT ROWID
;
CREATE TABLE device (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
, own TEXT CHECK (json_valid(own))) STRICT
;
CREATE TABLE device_name (
  device INTEGER PRIMARY KEY REFERENCES device (id),
  name   TEXT NOT NULL UNIQUE
         CHECK (name GLOB '[A-Za-z0-9]*' AND name NOT GLOB '*[^A-Za-z0-9._-]*' AND length(name) <= 64)
) STRICT
;
CREATE TABLE kept_line (
  line   TEXT PRIMARY KEY CHECK (json_valid(line)),
  change INTEGER
) STRICT, WITHOUT ROWID
;
CREATE TABLE "mark" (
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
) STRICT, WITHOUT ROWID
;
CREATE INDEX mark_by_change ON mark (change) WHERE change IS NOT NULL
;
CREATE TABLE miss (
  subject      INTEGER PRIMARY KEY REFERENCES subject (id),
  count        INTEGER NOT NULL CHECK (count > 0),
  last_seen_at TEXT NOT NULL CHECK (last_seen_at GLOB '????-??-??T??:??:??*Z')
) STRICT
;
CREATE TABLE peer (
  server TEXT PRIMARY KEY CHECK (server <> ''),
  epoch  TEXT NOT NULL,
  pulled INTEGER NOT NULL CHECK (pulled >= 0),
  pushed INTEGER NOT NULL CHECK (pushed >= 0)
) STRICT, WITHOUT ROWID
;
CREATE TABLE "program_note" (
  program    TEXT NOT NULL, -- digest of the input, flags, target, device and compiler, as JSON
  kind       TEXT NOT NULL CHECK (kind IN ('program', 'forms', 'times')),
  note       TEXT NOT NULL CHECK (json_valid(note)),
  written_at TEXT NOT NULL, -- ISO 8601 UTC
  created_by TEXT NOT NULL,
  machine    TEXT NOT NULL,
  tool       TEXT NOT NULL,
  PRIMARY KEY (program, kind, created_by, machine)
) STRICT, WITHOUT ROWID
;
CREATE TABLE revocation (
  scope      TEXT NOT NULL CHECK (scope IN ('record', 'tool', 'origin')),
  value      TEXT NOT NULL CHECK (value <> ''),
  reason     TEXT NOT NULL,
  created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??*Z'),
  created_by TEXT NOT NULL,
  change     INTEGER,
  PRIMARY KEY (scope, value, reason, created_at, created_by)
) STRICT, WITHOUT ROWID
;
CREATE TABLE "run" (
  id              INTEGER PRIMARY KEY,
  trial           INTEGER NOT NULL REFERENCES "trial" (number),
  stage           TEXT NOT NULL CHECK (stage IN ('search', 'finals')),
  batch           INTEGER NOT NULL CHECK (batch >= 0),
  placement       TEXT NOT NULL CHECK (placement IN ('apart', 'packed')),
  build           INTEGER NOT NULL CHECK (build >= 0),
  seconds         TEXT NOT NULL CHECK (json_valid(seconds) AND json_type(seconds) = 'array'),
  default_seconds TEXT CHECK (json_valid(default_seconds) AND json_type(default_seconds) = 'array')
) STRICT
;
CREATE INDEX run_of_trial ON run (trial)
;
CREATE TABLE shape (
  workload  INTEGER PRIMARY KEY REFERENCES workload (id) ON DELETE CASCADE,
  structure INTEGER NOT NULL,
  place     INTEGER NOT NULL,
  log_batch REAL NOT NULL,
  log_m     REAL NOT NULL,
  log_n     REAL NOT NULL,
  log_k     REAL NOT NULL
) STRICT
;
CREATE INDEX shape_by_place ON shape (structure, place, log_batch, log_m, log_n, log_k)
;
CREATE TABLE subject (
  id       INTEGER PRIMARY KEY,
  workload INTEGER NOT NULL REFERENCES workload (id),
  target   INTEGER NOT NULL REFERENCES target (id),
  compiler INTEGER NOT NULL REFERENCES compiler (id),
  device   INTEGER NOT NULL REFERENCES device (id),
  UNIQUE (workload, target, compiler, device)
) STRICT
;
CREATE TABLE target (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
, own TEXT CHECK (json_valid(own))) STRICT
;
CREATE TABLE "trial" (
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
) STRICT
;
CREATE INDEX trial_by_change ON trial (change) WHERE change IS NOT NULL
;
CREATE INDEX trial_of_subject ON trial (subject, ratio)
;
CREATE TABLE undecided (
  subject        INTEGER PRIMARY KEY REFERENCES subject (id),
  reason         TEXT NOT NULL,
  budget_seconds REAL NOT NULL CHECK (budget_seconds >= 0 AND budget_seconds < 9e999),
  attempts       INTEGER NOT NULL CHECK (attempts > 0),
  last_tried_at  TEXT NOT NULL CHECK (last_tried_at GLOB '????-??-??T??:??:??*Z')
) STRICT
;
CREATE TABLE workload (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
) STRICT
