-- Times by process, so that searches and decisions can be repeated without measuring.

-- One configuration in one process. Seconds are medians of one execution, at each tuned size.
CREATE TABLE run (
  id              INTEGER PRIMARY KEY,
  trial           INTEGER NOT NULL REFERENCES trial (id),
  stage           TEXT NOT NULL CHECK (stage IN ('search', 'finals')),
  batch           INTEGER NOT NULL CHECK (batch >= 0),
  placement       TEXT NOT NULL CHECK (placement IN ('apart', 'packed')),
  build           INTEGER NOT NULL CHECK (build >= 0),
  seconds         TEXT NOT NULL CHECK (json_valid(seconds) AND json_type(seconds) = 'array'),
  default_seconds TEXT CHECK (json_valid(default_seconds) AND json_type(default_seconds) = 'array')
) STRICT;

CREATE INDEX run_of_trial ON run (trial);
