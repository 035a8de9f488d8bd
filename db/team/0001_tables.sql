-- The tables of a team's server. `iree-tuned team migrate` applies all files in one transaction. It creates the schema `iree_tuned`, sets
-- the search path, and stores the number of the last file in `meta`.
-- Only the owner accesses tables. Other logins call the functions of the next files.
-- "< 'Infinity'" keeps a column finite, because NaN is greater than all numbers.

-- Identity of the server. `protocol` is the version of its functions' arguments and results.
CREATE TABLE meta (
  one      boolean PRIMARY KEY DEFAULT true CHECK (one),
  server   uuid NOT NULL DEFAULT gen_random_uuid(),
  epoch    integer NOT NULL DEFAULT 1,
  protocol integer NOT NULL,
  version  integer NOT NULL
);

-- Parts of subjects: a canonical key, and the JSON behind it. It is a text, because an equal form in another key order is another form.
-- The first form of a key wins. After a distrust of its login the next form wins.
CREATE TABLE workload (
  id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key   text COLLATE "C" NOT NULL UNIQUE CHECK (octet_length(key) BETWEEN 1 AND 2000),
  form  text CHECK (octet_length(form) <= 262144 AND jsonb_typeof(form::jsonb) <> ''),
  login text NOT NULL
);
CREATE TABLE target (LIKE workload INCLUDING ALL);
CREATE TABLE compiler (LIKE workload INCLUDING ALL);
CREATE TABLE device (LIKE workload INCLUDING ALL);

CREATE TABLE configuration (
  id     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest bytea NOT NULL UNIQUE,
  body   jsonb NOT NULL CHECK (jsonb_typeof(body) = 'object' AND octet_length(body::text) <= 4096)
);

-- Origins: the login, and the person, machine and tool in the line.
CREATE TABLE origin (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  login      text NOT NULL,
  person     text NOT NULL CHECK (octet_length(person) <= 1024),
  machine    text NOT NULL CHECK (octet_length(machine) <= 1024),
  tool       text NOT NULL CHECK (octet_length(tool) <= 1024),
  distrusted boolean NOT NULL DEFAULT false,
  UNIQUE (login, person, machine, tool)
);

CREATE TABLE subject (
  id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workload integer NOT NULL REFERENCES workload,
  target   integer NOT NULL REFERENCES target,
  compiler integer NOT NULL REFERENCES compiler,
  device   integer NOT NULL REFERENCES device,
  UNIQUE (workload, target, compiler, device)
);

-- Numbers of changes in the order of commits. Draw one only with the lock of `take_turn`.
CREATE SEQUENCE change;

-- The best evidence for a configuration of a subject. Times are seconds; ratios are default divided by tuned time. `target` and `compiler`
-- repeat the subject's, for the index that finds the pages of a pull.
CREATE TABLE claim (
  subject         integer NOT NULL REFERENCES subject,
  configuration   integer NOT NULL REFERENCES configuration,
  target          integer NOT NULL,
  compiler        integer NOT NULL,
  seq             bigint NOT NULL UNIQUE,
  version         integer NOT NULL CHECK (version BETWEEN 1 AND 1000),
  confidence      double precision NOT NULL CHECK (confidence > 0 AND confidence < 1),
  ratio           double precision NOT NULL CHECK (ratio > 0 AND ratio < 'Infinity'),
  low             double precision NOT NULL CHECK (low > 0 AND low < 'Infinity'),
  high            double precision NOT NULL CHECK (high > 0 AND high < 'Infinity'),
  default_seconds double precision NOT NULL CHECK (default_seconds > 0 AND default_seconds < 'Infinity'),
  seconds         double precision NOT NULL CHECK (seconds > 0 AND seconds < 'Infinity'),
  processes       integer NOT NULL CHECK (processes BETWEEN 1 AND 100000),
  repetitions     bigint NOT NULL CHECK (repetitions BETWEEN 1 AND 1000000000000),
  noise_floor     double precision NOT NULL CHECK (noise_floor >= 0 AND noise_floor < 'Infinity'),
  max_error       double precision NOT NULL CHECK (max_error >= 0 AND max_error < 'Infinity'),
  trials          bigint NOT NULL CHECK (trials BETWEEN 0 AND 1000000000000),
  tuning_seconds  double precision NOT NULL CHECK (tuning_seconds >= 0 AND tuning_seconds < 'Infinity'),
  families        text[] NOT NULL CHECK (cardinality(families) <= 16 AND
                    array_to_string(families, ',', '?') ~ '^([a-z][a-z0-9-]{0,31}(,[a-z][a-z0-9-]{0,31})*)?$'),
  complete        boolean NOT NULL,
  digest          bytea NOT NULL CHECK (octet_length(digest) = 32),
  created_at      text NOT NULL CHECK (created_at ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$'),
  origin          integer NOT NULL REFERENCES origin,
  received_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (subject, configuration),
  UNIQUE (target, compiler, seq),
  CHECK (low <= ratio AND ratio <= high)
);

-- Marks: forbidden configurations of a subject. Append-only; `lifted` opens a generation.
CREATE TABLE mark (
  subject       integer NOT NULL REFERENCES subject,
  configuration integer NOT NULL REFERENCES configuration,
  target        integer NOT NULL,
  compiler      integer NOT NULL,
  generation    integer NOT NULL CHECK (generation BETWEEN 0 AND 1000000),
  kind          text NOT NULL CHECK (kind IN ('compile-error', 'wrong-result', 'slower', 'lifted')),
  origin        integer NOT NULL REFERENCES origin,
  reason        text NOT NULL CHECK (octet_length(reason) <= 16384),
  created_at    text NOT NULL CHECK (created_at ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$'),
  seq           bigint NOT NULL UNIQUE,
  PRIMARY KEY (subject, configuration, generation, kind, origin),
  UNIQUE (target, compiler, seq)
);

-- Revocations: a claim by digest, a version of the tool, or an origin. Append-only.
CREATE TABLE revocation (
  scope      text NOT NULL CHECK (scope IN ('record', 'tool', 'origin')),
  value      text NOT NULL CHECK (octet_length(value) BETWEEN 1 AND 2100),
  reason     text NOT NULL CHECK (octet_length(reason) <= 16384),
  created_at text NOT NULL CHECK (created_at ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$'),
  created_by text NOT NULL CHECK (octet_length(created_by) <= 1024),
  login      text NOT NULL,
  seq        bigint NOT NULL UNIQUE,
  PRIMARY KEY (scope, value)
);

-- Subjects that builds missed.
CREATE TABLE demand (
  subject   integer PRIMARY KEY REFERENCES subject,
  builds    bigint NOT NULL DEFAULT 1,
  last_seen timestamptz NOT NULL DEFAULT now()
);

-- Outcomes and strategies, which many trials share.
CREATE TABLE ending (
  id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest   bytea NOT NULL UNIQUE,
  outcome  text NOT NULL CHECK (outcome IN ('measured', 'compile-error', 'run-error', 'timeout', 'wrong-result')),
  strategy text NOT NULL CHECK (octet_length(strategy) <= 1024),
  message  text CHECK (octet_length(message) <= 1024)
);

-- Trials, in a partition for each month: millions of rows with 76 bytes. The order of columns leaves no gaps. Eight columns need one byte
-- for their nulls. No foreign keys, because each row would need look-ups: `push` takes all ids from the tables.
CREATE TABLE trial (
  id            uuid NOT NULL,
  created_at    timestamptz NOT NULL,
  subject       integer NOT NULL,
  configuration integer NOT NULL,
  origin        integer NOT NULL,
  ending        integer NOT NULL,
  seconds       real CHECK (seconds > 0 AND seconds < 'Infinity'),
  ratio         real CHECK (ratio > 0 AND ratio < 'Infinity'),
  PRIMARY KEY (subject, id, created_at)
) PARTITION BY RANGE (created_at);
