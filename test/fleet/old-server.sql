-- The roles, tables and functions of a team's PostgreSQL server with schema 11. A superuser runs this file in an empty database.
BEGIN;
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'iree_tuned_reader') THEN CREATE ROLE iree_tuned_reader NOLOGIN; END IF;
END $$;
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'iree_tuned_writer') THEN CREATE ROLE iree_tuned_writer NOLOGIN; END IF;
END $$;
GRANT iree_tuned_reader TO iree_tuned_writer;
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'iree_tuned_worker') THEN CREATE ROLE iree_tuned_worker NOLOGIN; END IF;
END $$;
GRANT iree_tuned_writer TO iree_tuned_worker;
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'iree_tuned_administrator') THEN CREATE ROLE iree_tuned_administrator NOLOGIN; END IF;
END $$;
GRANT iree_tuned_worker TO iree_tuned_administrator;
GRANT iree_tuned_administrator TO CURRENT_USER;
CREATE SCHEMA iree_tuned AUTHORIZATION iree_tuned_administrator;
SET LOCAL ROLE iree_tuned_administrator;
SET LOCAL search_path = iree_tuned, pg_temp;

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

-- Functions for readers. Each takes and returns one JSON value, so that a protocol mismatch can be reported. All run as the owner with a
-- fixed search path; temporary tables of the caller come last. All look-ups use indexes, so plans with full scans are off: the planner
-- prefers them for new tables without statistics. JIT is off, because disabled plans have high cost estimates, which trigger it.

-- Identity of the server. The epoch changes when cursors become invalid: a restored backup has other tables or another timeline.
CREATE FUNCTION identity() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('protocol', protocol, 'server', server,
    'epoch', concat_ws('.', epoch, 'iree_tuned.claim'::regclass::oid, (SELECT timeline_id FROM pg_control_checkpoint())))
  FROM meta
$$;

CREATE FUNCTION speaks(request jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT request->'protocol' IS NOT DISTINCT FROM to_jsonb(protocol) FROM meta
$$;

CREATE FUNCTION is_revoked(digest bytea, origin origin) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM revocation AS r
    WHERE (r.scope, r.value) IN (('record', encode(digest, 'hex')), ('tool', origin.tool),
      ('origin', origin.person), ('origin', origin.machine), ('origin', origin.person || '@' || origin.machine),
      ('origin', origin.login))
  )
$$;

-- Served claims and marks, as exchange lines.
CREATE VIEW claim_line AS
SELECT c.subject, c.seq, c.low, jsonb_build_object(
    'type', 'claim', 'version', 1, 'workload', w.key, 'target', t.key, 'device', d.key, 'compiler', k.key,
    'configuration', f.body,
    'evidence', jsonb_build_object(
      'version', c.version, 'confidence', c.confidence, 'ratio', c.ratio, 'low', c.low, 'high', c.high,
      'defaultSeconds', c.default_seconds, 'seconds', c.seconds, 'processes', c.processes,
      'repetitions', c.repetitions, 'noiseFloor', c.noise_floor, 'maxError', c.max_error, 'trials', c.trials,
      'tuningSeconds', c.tuning_seconds, 'families', to_jsonb(c.families), 'complete', c.complete),
    'createdAt', c.created_at, 'createdBy', o.person, 'machine', o.machine, 'tool', o.tool,
    'digest', encode(c.digest, 'hex')) AS line
FROM claim AS c
JOIN subject AS s ON s.id = c.subject
JOIN workload AS w ON w.id = s.workload
JOIN target AS t ON t.id = s.target
JOIN device AS d ON d.id = s.device
JOIN compiler AS k ON k.id = s.compiler
JOIN configuration AS f ON f.id = c.configuration
JOIN origin AS o ON o.id = c.origin
-- Inline, because is_revoked would be called for each row.
WHERE NOT o.distrusted
  AND NOT EXISTS (SELECT FROM revocation AS r WHERE r.scope = 'record' AND r.value = encode(c.digest, 'hex'))
  AND NOT EXISTS (SELECT FROM revocation AS r WHERE r.scope = 'tool' AND r.value = o.tool)
  AND NOT EXISTS (SELECT FROM revocation AS r WHERE r.scope = 'origin'
    AND r.value IN (o.person, o.machine, o.person || '@' || o.machine, o.login));

CREATE VIEW mark_line AS
SELECT m.subject, m.seq, jsonb_build_object(
    'type', 'mark', 'version', 1, 'workload', w.key, 'target', t.key, 'device', d.key, 'compiler', k.key,
    'configuration', f.body, 'generation', m.generation, 'kind', m.kind, 'reason', m.reason,
    'createdAt', m.created_at, 'createdBy', o.person, 'machine', o.machine, 'tool', o.tool) AS line
FROM mark AS m
JOIN subject AS s ON s.id = m.subject
JOIN workload AS w ON w.id = s.workload
JOIN target AS t ON t.id = s.target
JOIN device AS d ON d.id = s.device
JOIN compiler AS k ON k.id = s.compiler
JOIN configuration AS f ON f.id = m.configuration
JOIN origin AS o ON o.id = m.origin
WHERE NOT o.distrusted AND NOT is_revoked(NULL, o);

CREATE VIEW revocation_line AS
SELECT seq, jsonb_build_object('type', 'revocation', 'version', 1, 'scope', scope, 'value', value, 'reason', reason,
    'createdAt', created_at, 'createdBy', created_by) AS line
FROM revocation;

-- Forms of some subjects, as exchange lines, each once.
CREATE FUNCTION part_lines(subjects integer[]) RETURNS SETOF jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('type', part.type, 'version', 1, 'key', part.key, 'form', part.form)
  FROM (
    SELECT 'workload' AS type, w.key, w.form
      FROM (SELECT DISTINCT workload AS id FROM subject WHERE id = ANY (subjects)) AS named JOIN workload AS w USING (id)
    UNION ALL SELECT 'target', t.key, t.form
      FROM (SELECT DISTINCT target AS id FROM subject WHERE id = ANY (subjects)) AS named JOIN target AS t USING (id)
    UNION ALL SELECT 'device', d.key, d.form
      FROM (SELECT DISTINCT device AS id FROM subject WHERE id = ANY (subjects)) AS named JOIN device AS d USING (id)
    UNION ALL SELECT 'compiler', k.key, k.form
      FROM (SELECT DISTINCT compiler AS id FROM subject WHERE id = ANY (subjects)) AS named JOIN compiler AS k USING (id)
  ) AS part
  WHERE part.form IS NOT NULL
$$;

-- Claims and marks of some workloads: {protocol, target, compiler, device, processor?, workloads: [key]} gives {lines}. For each workload at
-- most eight devices, the asker's and those with such a processor first, with 32 claims each, the fastest first.
CREATE FUNCTION ask(request jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off AS $$
DECLARE
  place_target integer := (SELECT id FROM target WHERE key = request->>'target');
  place_compiler integer := (SELECT id FROM compiler WHERE key = request->>'compiler');
  subjects integer[];
BEGIN
  IF NOT speaks(request) THEN RETURN identity(); END IF;
  IF jsonb_array_length(request->'workloads') > 10000 THEN
    RAISE program_limit_exceeded USING MESSAGE = 'at most 10000 workloads are asked for at once';
  END IF;
  SELECT array_agg(id) INTO subjects FROM (
    SELECT s.id, row_number() OVER (PARTITION BY s.workload ORDER BY d.key <> request->>'device',
      NOT coalesce(d.form::jsonb->'processor' @> (request->'processor'), false), s.id) AS nth
    FROM unnest(ARRAY(
      SELECT id FROM workload WHERE key = ANY (ARRAY(SELECT jsonb_array_elements_text(request->'workloads')))
    )) AS asked (workload)
    -- OFFSET 0 prevents the planner from merging the subquery, so it stays a look-up for each row.
    CROSS JOIN LATERAL (
      SELECT * FROM subject AS s WHERE s.workload = asked.workload AND s.target = place_target AND s.compiler = place_compiler OFFSET 0
    ) AS s
    CROSS JOIN LATERAL (SELECT key, form FROM device WHERE id = s.device OFFSET 0) AS d
    WHERE EXISTS (SELECT FROM claim AS c WHERE c.subject = s.id)
       OR EXISTS (SELECT FROM mark AS m WHERE m.subject = s.id)
  ) AS found
  WHERE nth <= 8;
  RETURN identity() || jsonb_build_object('lines', coalesce((
    SELECT jsonb_agg(line) FROM (
      SELECT line FROM part_lines(subjects) AS line
      UNION ALL
      SELECT best.line FROM unnest(subjects) AS asked (subject) CROSS JOIN LATERAL (
        SELECT line FROM claim_line AS c WHERE c.subject = asked.subject ORDER BY low DESC LIMIT 32
      ) AS best
      UNION ALL
      SELECT line FROM mark_line WHERE subject = ANY (subjects)
    ) AS all_lines
  ), '[]'));
END
$$;

-- Changes since a cursor, at most 1000 a page: {protocol, server, epoch, seq, target, compiler, device?} gives {lines, seq, more, restarted}.
-- A cursor of another server or epoch, or ahead of this server, starts over.
CREATE FUNCTION pull(request jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off AS $$
DECLARE
  here jsonb := identity();
  head bigint := greatest((SELECT max(seq) FROM claim), (SELECT max(seq) FROM mark), (SELECT max(seq) FROM revocation), 0);
  begun bigint := (request->>'seq')::bigint;
  restarted boolean;
  page_target integer := (SELECT id FROM target WHERE key = request->>'target');
  page_compiler integer := (SELECT id FROM compiler WHERE key = request->>'compiler');
  answer jsonb;
BEGIN
  IF NOT speaks(request) THEN RETURN here; END IF;
  restarted := begun > 0 AND (begun > head
    OR request->>'server' IS DISTINCT FROM here->>'server' OR request->>'epoch' IS DISTINCT FROM here->>'epoch');
  IF restarted OR begun IS NULL THEN begun := 0; END IF;
  -- First the numbers by index, then the content of served changes.
  WITH page AS MATERIALIZED (
    SELECT seq, subject FROM (
      (SELECT seq, subject FROM claim WHERE target = page_target AND compiler = page_compiler AND seq > begun
       ORDER BY seq LIMIT 1000)
      UNION ALL
      (SELECT seq, subject FROM mark WHERE target = page_target AND compiler = page_compiler AND seq > begun
       ORDER BY seq LIMIT 1000)
      UNION ALL
      (SELECT seq, NULL FROM revocation WHERE seq > begun ORDER BY seq LIMIT 1000)
    ) AS changes
    ORDER BY seq LIMIT 1000
  ), lines AS (
    SELECT page.seq, page.subject, said.line FROM page CROSS JOIN LATERAL (
      SELECT line FROM claim_line AS c WHERE c.seq = page.seq
      UNION ALL SELECT line FROM mark_line AS m WHERE m.seq = page.seq
      UNION ALL SELECT line FROM revocation_line AS r WHERE r.seq = page.seq
    ) AS said
    WHERE request->>'device' IS NULL OR page.subject IS NULL OR said.line->'device' = request->'device'
  ), parts AS (
    SELECT line FROM part_lines((SELECT array_agg(DISTINCT subject) FROM lines WHERE subject IS NOT NULL)) AS line
  )
  SELECT jsonb_build_object(
    'lines', coalesce((SELECT jsonb_agg(line) FROM parts), '[]') || coalesce((SELECT jsonb_agg(line ORDER BY seq) FROM lines), '[]'),
    'more', (SELECT count(*) FROM page) = 1000,
    'seq', CASE WHEN (SELECT count(*) FROM page) = 1000 THEN (SELECT max(seq) FROM page) ELSE head END,
    'restarted', restarted
  ) INTO answer;
  RETURN here || answer;
END
$$;

-- Sizes: {protocol} gives counts, and bytes on disk. Counts of trials are estimates.
CREATE FUNCTION status(request jsonb) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off AS $$
  SELECT identity() || jsonb_build_object(
    'version', (SELECT version FROM meta),
    'login', session_user,
    'counts', jsonb_build_object(
      'workloads', (SELECT count(*) FROM workload), 'devices', (SELECT count(*) FROM device),
      'subjects', (SELECT count(*) FROM subject), 'claims', (SELECT count(*) FROM claim),
      'marks', (SELECT count(*) FROM mark), 'revocations', (SELECT count(*) FROM revocation),
      'wanted', (SELECT count(*) FROM demand), 'origins', (SELECT count(*) FROM origin),
      'trials', (SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint FROM pg_inherits AS i
                 JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = 'iree_tuned.trial'::regclass)),
    'bytes', jsonb_build_object(
      'trials', (SELECT coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint FROM pg_inherits
                 WHERE inhparent = 'iree_tuned.trial'::regclass),
      'all', (SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
              WHERE relnamespace = 'iree_tuned'::regnamespace AND relkind IN ('r', 'm'))))
$$;

-- Trials of one subject, oldest first: {protocol, workload, target, device, compiler} gives {lines}. Runs stay in the database of the machine.
CREATE FUNCTION trials(request jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off AS $$
DECLARE
  about integer := (
    SELECT s.id FROM subject AS s
    JOIN workload AS w ON w.id = s.workload JOIN target AS t ON t.id = s.target
    JOIN device AS d ON d.id = s.device JOIN compiler AS k ON k.id = s.compiler
    WHERE w.key = request->>'workload' AND t.key = request->>'target'
      AND d.key = request->>'device' AND k.key = request->>'compiler');
BEGIN
  IF NOT speaks(request) THEN RETURN identity(); END IF;
  RETURN identity() || jsonb_build_object('lines', coalesce((
    SELECT jsonb_agg(jsonb_build_object('type', 'trial', 'version', 1, 'workload', request->'workload',
        'target', request->'target', 'device', request->'device', 'compiler', request->'compiler', 'id', replace(t.id::text, '-', ''), 'configuration', f.body, 'outcome', e.outcome,
        'seconds', t.seconds, 'ratio', t.ratio, 'message', e.message, 'strategy', e.strategy,
        'createdAt', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'runs', '[]'::jsonb,
        'createdBy', o.person, 'machine', o.machine, 'tool', o.tool) ORDER BY t.created_at, t.id)
    FROM trial AS t
    JOIN configuration AS f ON f.id = t.configuration
    JOIN origin AS o ON o.id = t.origin
    JOIN ending AS e ON e.id = t.ending
    WHERE t.subject = about AND NOT o.distrusted AND NOT is_revoked(NULL, o)
  ), '[]'));
END
$$;

-- Functions for writers. A line that breaks a constraint fails the whole push, and the client finds it. Valid lines that are refused are
-- counted in the answer. Joins are in execution order: planning takes a new connection longer than the work.

-- One writer at a time, until the end of its transaction, so that change numbers are in the order of commits and a pull misses none. The
-- lock is on a table, because any login could take and keep an advisory lock.
CREATE FUNCTION take_turn() RETURNS void LANGUAGE sql AS $$
  LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE
$$;

CREATE FUNCTION is_administrator() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM pg_roles
    WHERE oid IN ((SELECT nspowner FROM pg_namespace WHERE nspname = 'iree_tuned'),
                  (SELECT oid FROM pg_roles WHERE rolname = 'iree_tuned_administrator'))
      AND pg_has_role(session_user, oid, 'MEMBER')
  )
$$;

-- Lines of one type of this protocol. Requests group lines by type, because a scan of all lines for each type would be slow.
CREATE FUNCTION lines_of(request jsonb, type text) RETURNS SETOF jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT value FROM jsonb_array_elements(request->'lines'->type) WHERE value->'version' = '1' AND value->>'type' = type
$$;

CREATE FUNCTION admit(request jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT sum(jsonb_array_length(value)) FROM jsonb_each(request->'lines')) > 4000
    OR pg_column_size(request) > 32 * 1024 * 1024
  THEN
    RAISE program_limit_exceeded USING MESSAGE = 'at most 4000 lines and 32 MiB are taken at once';
  END IF;
  IF EXISTS (SELECT FROM origin WHERE login = session_user AND distrusted) THEN
    RAISE insufficient_privilege USING MESSAGE = 'an administrator distrusts this login';
  END IF;
END
$$;

-- Draws ids for new rows only, because ids end at 2^31.
CREATE FUNCTION intern_parts(request jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  kind text;
BEGIN
  FOREACH kind IN ARRAY ARRAY['workload', 'target', 'compiler', 'device'] LOOP
    EXECUTE format($sql$
      INSERT INTO %1$I AS known (key, form, login)
      SELECT DISTINCT ON (line->>'key') line->>'key', line->>'form', session_user
      FROM lines_of($1, %1$L) AS line
      WHERE NOT EXISTS (SELECT FROM %1$I WHERE key = line->>'key' AND form IS NOT NULL)
      ON CONFLICT (key) DO UPDATE SET form = excluded.form, login = excluded.login WHERE known.form IS NULL
    $sql$, kind) USING request;
  END LOOP;
END
$$;

-- Ids of four keys; no row if one is unknown.
CREATE FUNCTION intern_subjects(abouts jsonb[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO subject (workload, target, compiler, device)
  SELECT DISTINCT w.id, t.id, k.id, d.id
  FROM unnest(abouts) AS about
  JOIN workload AS w ON w.key = about->>'workload'
  JOIN target AS t ON t.key = about->>'target'
  JOIN compiler AS k ON k.key = about->>'compiler'
  JOIN device AS d ON d.key = about->>'device'
  WHERE NOT EXISTS (
    SELECT FROM subject AS s
    WHERE (s.workload, s.target, s.compiler, s.device) = (w.id, t.id, k.id, d.id)
  )
$$;

CREATE FUNCTION subject_of(about jsonb) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT s.id FROM subject AS s
  WHERE s.workload = (SELECT id FROM workload WHERE key = about->>'workload')
    AND s.target = (SELECT id FROM target WHERE key = about->>'target')
    AND s.compiler = (SELECT id FROM compiler WHERE key = about->>'compiler')
    AND s.device = (SELECT id FROM device WHERE key = about->>'device')
$$;

CREATE FUNCTION digest_of(body jsonb) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(convert_to(body::text, 'UTF8'))
$$;

-- A missing person, machine or tool is an empty text.
CREATE FUNCTION said(line jsonb, name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(line->>name, '')
$$;

-- Lines of one type with the ids of their subjects. Omits lines with undescribed keys.
CREATE FUNCTION known_lines(request jsonb, type text)
RETURNS TABLE (line jsonb, subject integer, configuration integer, target integer, compiler integer, origin origin)
LANGUAGE sql STABLE AS $$
  SELECT line, s.id, f.id, s.target, s.compiler, o
  FROM lines_of(request, type) AS line
  JOIN workload AS w ON w.key = line->>'workload'
  JOIN target AS t ON t.key = line->>'target'
  JOIN compiler AS k ON k.key = line->>'compiler'
  JOIN device AS d ON d.key = line->>'device'
  JOIN subject AS s ON s.workload = w.id AND s.target = t.id AND s.compiler = k.id AND s.device = d.id
  JOIN configuration AS f ON f.digest = digest_of(line->'configuration')
  JOIN origin AS o ON o.login = session_user AND o.person = said(line, 'createdBy')
    AND o.machine = said(line, 'machine') AND o.tool = said(line, 'tool')
$$;

-- Stores the parts, subjects and origins of claims, marks and trials.
CREATE FUNCTION intern(request jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  abouts jsonb[] := ARRAY(
    SELECT line FROM (VALUES ('claim'), ('mark'), ('trial')) AS types (type), lines_of(request, type) AS line);
BEGIN
  PERFORM intern_parts(request);
  PERFORM intern_subjects(abouts);
  INSERT INTO configuration (digest, body)
  SELECT digest, body
  FROM (SELECT DISTINCT digest_of(about->'configuration') AS digest, about->'configuration' AS body
        FROM unnest(abouts) AS about) AS said
  WHERE NOT EXISTS (SELECT FROM configuration AS known WHERE known.digest = said.digest);
  INSERT INTO origin (login, person, machine, tool)
  SELECT * FROM (
    SELECT DISTINCT session_user, said(about, 'createdBy'), said(about, 'machine'), said(about, 'tool')
    FROM unnest(abouts) AS about
  ) AS said (login, person, machine, tool)
  WHERE NOT EXISTS (
    SELECT FROM origin AS o WHERE (o.login, o.person, o.machine, o.tool) = (said.login, said.person, said.machine, said.tool));
END
$$;

-- A writer may revoke single claims, and origins that only its login has. Everything else needs an administrator.
CREATE FUNCTION may_revoke(scope text, value text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT scope = 'record' OR is_administrator() OR scope = 'origin'
    AND EXISTS (SELECT FROM origin AS o WHERE value IN (o.person, o.machine, o.person || '@' || o.machine, o.login) AND o.login = session_user)
    AND NOT EXISTS (SELECT FROM origin AS o WHERE value IN (o.person, o.machine, o.person || '@' || o.machine, o.login) AND o.login <> session_user)
$$;

CREATE FUNCTION add_revocations(request jsonb) RETURNS bigint LANGUAGE sql AS $$
  WITH added AS (
    INSERT INTO revocation (scope, value, reason, created_at, created_by, login, seq)
    SELECT line->>'scope', line->>'value', line->>'reason', line->>'createdAt', line->>'createdBy', session_user, nextval('change')
    FROM lines_of(request, 'revocation') AS line
    WHERE may_revoke(line->>'scope', line->>'value')
      AND NOT EXISTS (SELECT FROM revocation AS r WHERE (r.scope, r.value) = (line->>'scope', line->>'value'))
    ON CONFLICT DO NOTHING
    RETURNING 1
  )
  SELECT count(*) FROM added
$$;

CREATE FUNCTION united(a text[], b text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY(SELECT DISTINCT family COLLATE "C" FROM unnest(a || b) AS family ORDER BY 1)
$$;

-- Claims of a request with ids, without revoked claims and claims with undescribed keys.
CREATE FUNCTION claims_of(request jsonb) RETURNS SETOF claim LANGUAGE sql STABLE AS $$
  SELECT subject, configuration, target, compiler, 0::bigint,
    e.version, e.confidence, e.ratio, e.low, e.high, e."defaultSeconds", e.seconds, e.processes, e.repetitions,
    e."noiseFloor", e."maxError", e.trials, e."tuningSeconds", e.families, e.complete,
    decode(line->>'digest', 'hex'), line->>'createdAt', (origin).id, now()
  FROM known_lines(request, 'claim')
  CROSS JOIN LATERAL jsonb_to_record(line->'evidence') AS e (version integer, confidence double precision,
    ratio double precision, low double precision, high double precision, "defaultSeconds" double precision,
    seconds double precision, processes integer, repetitions bigint, "noiseFloor" double precision,
    "maxError" double precision, trials bigint, "tuningSeconds" double precision, families text[], complete boolean)
  WHERE NOT is_revoked(decode(line->>'digest', 'hex'), origin)
$$;

-- Keeps the better claim's evidence, and the greater effort of both. The order is that of `better` in the clients, without a clock. Revoked
-- and distrusted claims lose against every other. A batch holds a claim once.
CREATE FUNCTION add_claims(request jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  better bigint;
  longer bigint;
BEGIN
  INSERT INTO claim AS old
  SELECT new.subject, new.configuration, new.target, new.compiler, nextval('change'), new.version, new.confidence, new.ratio, new.low, new.high,
    new.default_seconds, new.seconds, new.processes, new.repetitions, new.noise_floor, new.max_error, new.trials,
    new.tuning_seconds, united(new.families, '{}'), new.complete, new.digest, new.created_at, new.origin, new.received_at
  FROM claims_of(request) AS new
  ON CONFLICT (subject, configuration) DO UPDATE SET
    seq = excluded.seq, version = excluded.version, confidence = excluded.confidence, ratio = excluded.ratio,
    low = excluded.low, high = excluded.high, default_seconds = excluded.default_seconds, seconds = excluded.seconds,
    processes = excluded.processes, repetitions = excluded.repetitions, noise_floor = excluded.noise_floor,
    max_error = excluded.max_error, complete = excluded.complete, digest = excluded.digest,
    created_at = excluded.created_at, origin = excluded.origin, received_at = excluded.received_at,
    trials = greatest(old.trials, excluded.trials),
    tuning_seconds = greatest(old.tuning_seconds, excluded.tuning_seconds),
    families = united(old.families, excluded.families)
  WHERE (excluded.version, excluded.complete, excluded.processes, excluded.repetitions, excluded.low, excluded.digest)
      > (old.version, old.complete, old.processes, old.repetitions, old.low, old.digest)
    OR EXISTS (SELECT FROM origin AS o WHERE o.id = old.origin AND (o.distrusted OR is_revoked(old.digest, o)));
  GET DIAGNOSTICS better = ROW_COUNT;
  UPDATE claim AS old SET
    seq = nextval('change'), received_at = now(),
    trials = greatest(old.trials, new.trials),
    tuning_seconds = greatest(old.tuning_seconds, new.tuning_seconds),
    families = united(old.families, new.families)
  FROM claims_of(request) AS new
  WHERE old.subject = new.subject AND old.configuration = new.configuration
    AND (new.trials > old.trials OR new.tuning_seconds > old.tuning_seconds OR NOT new.families <@ old.families);
  GET DIAGNOSTICS longer = ROW_COUNT;
  RETURN better + longer;
END
$$;

CREATE FUNCTION generation_of(about integer, marked integer) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT coalesce(max(generation), 0) FROM mark WHERE subject = about AND configuration = marked
$$;

-- Marks of existing generations. Only an administrator opens a generation, with `lifted`. A forwarded mark keeps its origin.
CREATE FUNCTION add_marks(request jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  lifting boolean;
  added bigint;
  total bigint := 0;
BEGIN
  FOREACH lifting IN ARRAY ARRAY[true, false] LOOP
    INSERT INTO mark (subject, configuration, target, compiler, generation, kind, origin, reason, created_at, seq)
    SELECT l.subject, l.configuration, l.target, l.compiler, m.generation, m.kind, (l.origin).id, m.reason, m."createdAt", nextval('change')
    FROM known_lines(request, 'mark') AS l
    CROSS JOIN LATERAL jsonb_to_record(l.line) AS m (generation integer, kind text, reason text, "createdAt" text)
    CROSS JOIN LATERAL (SELECT generation_of(l.subject, l.configuration)) AS latest (generation)
    WHERE NOT is_revoked(NULL, l.origin)
      AND (m.kind = 'lifted') = lifting AND l.line->'configuration'->>'kind' IS DISTINCT FROM 'default'
      AND (m.generation <= latest.generation OR lifting AND m.generation = latest.generation + 1)
      AND (NOT lifting OR is_administrator())
      AND NOT EXISTS (
        SELECT FROM mark AS known JOIN origin AS k ON k.id = known.origin
        WHERE (known.subject, known.configuration, known.generation, known.kind)
            = (l.subject, l.configuration, m.generation, m.kind)
          AND (k.person, k.machine, k.tool) = ((l.origin).person, (l.origin).machine, (l.origin).tool))
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS added = ROW_COUNT;
    total := total + added;
  END LOOP;
  RETURN total;
END
$$;

CREATE FUNCTION ending_of(line jsonb) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT digest_of(jsonb_build_array(line->'outcome', line->'strategy', left(line->>'message', 250)))
$$;

-- Refuses times more than a day ahead, and times before this program existed.
CREATE FUNCTION has_come(line jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT (line->>'createdAt')::timestamptz BETWEEN '2024-01-01Z' AND now() + interval '1 day'
$$;

-- Trials go into the partition of the month of their own time.
CREATE FUNCTION add_trials(request jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  month timestamp;
  added bigint;
BEGIN
  FOR month IN
    SELECT DISTINCT date_trunc('month', (line->>'createdAt')::timestamptz AT TIME ZONE 'UTC')
    FROM lines_of(request, 'trial') AS line WHERE has_come(line)
  LOOP
    IF to_regclass(format('iree_tuned.trial_%s', to_char(month, 'YYYY_MM'))) IS NULL THEN
      EXECUTE format('CREATE TABLE %I PARTITION OF trial FOR VALUES FROM (%L) TO (%L)',
        'trial_' || to_char(month, 'YYYY_MM'), month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC');
    END IF;
  END LOOP;
  IF month IS NULL THEN RETURN 0; END IF;
  INSERT INTO ending (digest, outcome, strategy, message)
  SELECT DISTINCT ON (ending_of(line)) ending_of(line), line->>'outcome', line->>'strategy', left(line->>'message', 250)
  FROM lines_of(request, 'trial') AS line
  WHERE NOT EXISTS (SELECT FROM ending WHERE digest = ending_of(line));
  INSERT INTO trial (id, created_at, subject, configuration, origin, ending, seconds, ratio)
  SELECT t.id, t."createdAt", l.subject, l.configuration, (l.origin).id, e.id, t.seconds, t.ratio
  FROM known_lines(request, 'trial') AS l
  JOIN ending AS e ON e.digest = ending_of(l.line)
  CROSS JOIN LATERAL jsonb_to_record(l.line) AS t (id uuid, "createdAt" timestamptz, seconds real, ratio real)
  WHERE has_come(l.line)
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS added = ROW_COUNT;
  RETURN added;
END
$$;

-- Refused valid lines, by reason.
CREATE FUNCTION unwelcome(request jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_object_agg(reason, count), '{}') FROM (
    SELECT reason, count(*) FROM (
      SELECT 'revoked' AS reason FROM known_lines(request, 'claim')
        WHERE is_revoked(decode(line->>'digest', 'hex'), origin)
      UNION ALL
      SELECT CASE
        WHEN is_revoked(NULL, origin) THEN 'revoked'
        WHEN line->'configuration'->>'kind' = 'default' THEN 'the default cannot be marked'
        WHEN line->>'kind' = 'lifted' AND NOT is_administrator() THEN 'only an administrator lifts marks'
        WHEN (line->'generation')::integer > generation_of(subject, configuration)
          THEN 'a generation of marks that no administrator has opened'
      END FROM known_lines(request, 'mark')
      UNION ALL
      SELECT 'from a month that has not come' FROM lines_of(request, 'trial') AS line WHERE NOT has_come(line)
      UNION ALL
      SELECT 'only an administrator revokes what others have brought' FROM lines_of(request, 'revocation') AS line
        WHERE NOT may_revoke(line->>'scope', line->>'value')
          AND NOT EXISTS (SELECT FROM revocation AS r WHERE (r.scope, r.value) = (line->>'scope', line->>'value'))
      UNION ALL
      SELECT 'about something that nobody has described'
        FROM (VALUES ('claim'), ('mark'), ('trial')) AS types (type), lines_of(request, type) AS line
        WHERE subject_of(line) IS NULL
    ) AS reasons
    WHERE reason IS NOT NULL GROUP BY reason
  ) AS counted
$$;

-- Adds better and new lines: {protocol, lines: {type: [line]}} gives {changed: {claims, marks, trials, revocations}, unwelcome: {reason: count}}.
CREATE FUNCTION push(request jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off
SET join_collapse_limit = 1 AS $$
DECLARE
  changed jsonb;
BEGIN
  IF NOT speaks(request) THEN RETURN identity(); END IF;
  PERFORM admit(request);
  PERFORM take_turn();
  PERFORM intern(request);
  -- Revocations first, because they affect the rest.
  changed := jsonb_build_object('revocations', add_revocations(request));
  changed := changed || jsonb_build_object(
    'claims', add_claims(request), 'marks', add_marks(request), 'trials', add_trials(request));
  RETURN identity() || jsonb_build_object('changed', changed, 'unwelcome', unwelcome(request));
END
$$;

-- Raises the demands for subjects by one build: {protocol, lines: {type: [part]}, subjects: [four keys]} gives {wanted}.
CREATE FUNCTION want(request jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off
SET join_collapse_limit = 1 AS $$
DECLARE
  abouts jsonb[] := ARRAY(SELECT jsonb_array_elements(request->'subjects'));
  wanted bigint;
BEGIN
  IF NOT speaks(request) THEN RETURN identity(); END IF;
  IF cardinality(abouts) > 10000 THEN
    RAISE program_limit_exceeded USING MESSAGE = 'at most 10000 subjects are wanted at once';
  END IF;
  PERFORM admit(request);
  PERFORM take_turn();
  PERFORM intern_parts(request);
  PERFORM intern_subjects(abouts);
  INSERT INTO demand AS known (subject)
  SELECT DISTINCT subject_of(about) FROM unnest(abouts) AS about WHERE subject_of(about) IS NOT NULL
  ON CONFLICT (subject) DO UPDATE SET builds = known.builds + 1, last_seen = now();
  GET DIAGNOSTICS wanted = ROW_COUNT;
  RETURN identity() || jsonb_build_object('wanted', wanted);
END
$$;

-- Revokes: {protocol, lines: {revocation: [line]}} gives {revoked: number of claims that all revocations hide}.
CREATE FUNCTION revoke(request jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off
SET join_collapse_limit = 1 AS $$
BEGIN
  IF NOT speaks(request) THEN RETURN identity(); END IF;
  PERFORM admit(request);
  PERFORM take_turn();
  PERFORM add_revocations(request);
  IF unwelcome(request) <> '{}' THEN
    RAISE insufficient_privilege USING MESSAGE = 'only an administrator revokes what others have brought';
  END IF;
  RETURN identity() || jsonb_build_object('revoked', (
    SELECT count(*) FROM claim AS c JOIN origin AS o ON o.id = c.origin WHERE is_revoked(c.digest, o)));
END
$$;

-- For administrators: hides all lines of a login, and accepts none from it. In the new epoch others push their claims again, so claims that
-- lost against invented ones return. For clients that pulled its lines, revoke the origin.
CREATE FUNCTION distrust(distrusted_login text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off
SET join_collapse_limit = 1 AS $$
DECLARE
  removed bigint;
BEGIN
  PERFORM take_turn();
  INSERT INTO origin (login, person, machine, tool) VALUES (distrusted_login, '', '', '') ON CONFLICT DO NOTHING;
  UPDATE origin SET distrusted = true WHERE login = distrusted_login;
  DELETE FROM claim USING origin AS o WHERE o.id = claim.origin AND o.distrusted;
  GET DIAGNOSTICS removed = ROW_COUNT;
  UPDATE workload SET form = NULL WHERE login = distrusted_login;
  UPDATE target SET form = NULL WHERE login = distrusted_login;
  UPDATE compiler SET form = NULL WHERE login = distrusted_login;
  UPDATE device SET form = NULL WHERE login = distrusted_login;
  UPDATE meta SET epoch = epoch + 1;
  RETURN removed;
END
$$;

-- Functions for workers: demands, heartbeats and results. The queue has its own schema.

-- Workers. A heartbeat renews a row every few seconds. A row without heartbeats belongs to a dead worker.
CREATE TABLE worker (
  id         uuid PRIMARY KEY,
  login      text NOT NULL,
  person     text NOT NULL CHECK (octet_length(person) <= 1024),
  machine    text NOT NULL CHECK (octet_length(machine) <= 1024),
  tool       text NOT NULL CHECK (octet_length(tool) <= 1024),
  target     text NOT NULL CHECK (octet_length(target) BETWEEN 1 AND 2000),
  compiler   text NOT NULL CHECK (octet_length(compiler) BETWEEN 1 AND 2000),
  device     text NOT NULL CHECK (octet_length(device) BETWEEN 1 AND 2000),
  -- Activity, its start, and the workload of the current job.
  state      text NOT NULL CHECK (octet_length(state) <= 200),
  holds      text CHECK (octet_length(holds) BETWEEN 1 AND 2000),
  since      timestamptz NOT NULL DEFAULT now(),
  finished   bigint NOT NULL DEFAULT 0 CHECK (finished >= 0),
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at    timestamptz NOT NULL DEFAULT now()
);

-- Why no worker can do it; null if one can.
ALTER TABLE demand ADD COLUMN refused text CHECK (octet_length(refused) <= 1024);

-- Demands for one target and compiler, at most 1000, the most wanted first: {protocol, target, compiler, workload?} gives {demands:
-- [{workload, device, builds, refused}], lines}, where lines describe the keys. A claim after the last request ends a demand.
CREATE FUNCTION demands(request jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off AS $$
DECLARE
  wanted_target integer := (SELECT id FROM target WHERE key = request->>'target');
  wanted_compiler integer := (SELECT id FROM compiler WHERE key = request->>'compiler');
  subjects integer[];
BEGIN
  IF NOT speaks(request) THEN RETURN identity(); END IF;
  DELETE FROM demand AS d USING subject AS s
  WHERE s.id = d.subject AND s.target = wanted_target AND s.compiler = wanted_compiler
    AND EXISTS (SELECT FROM claim AS c WHERE c.subject = d.subject AND c.received_at >= d.last_seen);
  subjects := ARRAY(
    SELECT d.subject FROM demand AS d JOIN subject AS s ON s.id = d.subject JOIN workload AS w ON w.id = s.workload
    WHERE s.target = wanted_target AND s.compiler = wanted_compiler
      AND (request->>'workload' IS NULL OR w.key = request->>'workload')
    ORDER BY d.refused IS NOT NULL, d.builds DESC, d.subject
    LIMIT 1000);
  RETURN identity() || jsonb_build_object(
    'demands', coalesce((
      SELECT jsonb_agg(jsonb_build_object('workload', w.key, 'device', v.key, 'builds', d.builds, 'refused', d.refused)
        ORDER BY wanted.nth)
      FROM unnest(subjects) WITH ORDINALITY AS wanted (subject, nth)
      JOIN demand AS d ON d.subject = wanted.subject
      JOIN subject AS s ON s.id = wanted.subject
      JOIN workload AS w ON w.id = s.workload
      JOIN device AS v ON v.id = s.device), '[]'),
    'lines', coalesce((SELECT jsonb_agg(line) FROM part_lines(subjects) AS line), '[]'));
END
$$;

-- Ends demands, or stores why no worker can do them: {protocol, subjects: [four keys], refused?} gives {settled}.
CREATE FUNCTION settle(request jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off AS $$
DECLARE
  subjects integer[];
  settled bigint;
BEGIN
  IF NOT speaks(request) THEN RETURN identity(); END IF;
  subjects := ARRAY(SELECT subject_of(about) FROM jsonb_array_elements(request->'subjects') AS about);
  IF request->>'refused' IS NULL THEN
    DELETE FROM demand WHERE subject = ANY (subjects);
  ELSE
    UPDATE demand SET refused = left(request->>'refused', 250) WHERE subject = ANY (subjects);
  END IF;
  GET DIAGNOSTICS settled = ROW_COUNT;
  RETURN identity() || jsonb_build_object('settled', settled);
END
$$;

-- Heartbeat: {protocol, worker: {id, person, ...}} gives {attended}. A row belongs to its login.
CREATE FUNCTION attend(request jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off AS $$
DECLARE
  attended bigint;
BEGIN
  IF NOT speaks(request) THEN RETURN identity(); END IF;
  DELETE FROM worker WHERE seen_at < now() - interval '1 day';
  INSERT INTO worker AS known (id, login, person, machine, tool, target, compiler, device, state, holds, finished)
  SELECT w.id, session_user, w.person, w.machine, w.tool, w.target, w.compiler, w.device, w.state, w.holds, w.finished
  FROM jsonb_to_record(request->'worker') AS w (id uuid, person text, machine text, tool text, target text, compiler text,
    device text, state text, holds text, finished bigint)
  ON CONFLICT (id) DO UPDATE SET
    state = excluded.state, holds = excluded.holds, finished = excluded.finished, seen_at = now(),
    since = CASE WHEN (known.state, known.holds) IS NOT DISTINCT FROM (excluded.state, excluded.holds)
      THEN known.since ELSE now() END
  WHERE known.login = session_user;
  GET DIAGNOSTICS attended = ROW_COUNT;
  RETURN identity() || jsonb_build_object('attended', attended);
END
$$;

-- End of a worker: {protocol, worker: {id}} gives {left}.
CREATE FUNCTION leave(request jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp AS $$
DECLARE
  gone bigint;
BEGIN
  IF NOT speaks(request) THEN RETURN identity(); END IF;
  DELETE FROM worker WHERE id = (request->'worker'->>'id')::uuid AND login = session_user;
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN identity() || jsonb_build_object('left', gone);
END
$$;

-- Workers and refused demands: {protocol} gives {workers, wanted, refused: [{workload, target, compiler, device, builds, reason}]}, with at
-- most 1000 refused demands, the most wanted first. Ages are in seconds.
CREATE FUNCTION fleet(request jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = iree_tuned, pg_temp AS $$
BEGIN
  IF NOT speaks(request) THEN RETURN identity(); END IF;
  RETURN identity() || jsonb_build_object(
    'workers', coalesce((
      SELECT jsonb_agg(jsonb_build_object('id', id, 'login', login, 'person', person, 'machine', machine, 'tool', tool,
          'target', target, 'compiler', compiler, 'device', device, 'state', state, 'holds', holds,
          'since', extract(epoch FROM now() - since), 'finished', finished,
          'started', extract(epoch FROM now() - started_at), 'seen', extract(epoch FROM now() - seen_at))
        ORDER BY machine, started_at, id)
      FROM worker), '[]'),
    'wanted', (SELECT count(*) FROM demand WHERE refused IS NULL),
    'refused', coalesce((
      SELECT jsonb_agg(jsonb_build_object('workload', w.key, 'target', t.key, 'compiler', k.key, 'device', v.key,
        'builds', d.builds, 'reason', d.refused) ORDER BY d.builds DESC, d.subject)
      FROM (SELECT * FROM demand WHERE refused IS NOT NULL ORDER BY builds DESC, subject LIMIT 1000) AS d
      JOIN subject AS s ON s.id = d.subject
      JOIN workload AS w ON w.id = s.workload
      JOIN target AS t ON t.id = s.target
      JOIN compiler AS k ON k.id = s.compiler
      JOIN device AS v ON v.id = s.device), '[]'));
END
$$;

-- Ends a distrust, and makes questions cheaper.

-- For administrators: trusts a login again. Its lines return in the new epoch, when all clients push again. False if it was not distrusted.
CREATE FUNCTION trust(trusted_login text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp AS $$
BEGIN
  PERFORM take_turn();
  UPDATE origin SET distrusted = false WHERE login = trusted_login AND distrusted;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE meta SET epoch = epoch + 1;
  RETURN true;
END
$$;

-- A cheaper `ask`. It takes compiler and target from the question, returns only forms of devices, and builds text instead of JSON trees. The
-- plan, most of the work for fifty keys, is made once for each connection.
DROP FUNCTION ask(jsonb);

-- Claims and marks of some workloads: {protocol, target, compiler, device, processor?, workloads: [key]} gives {lines}. For each workload at
-- most eight devices, the asker's and those with such a processor first, with 32 claims each, the fastest first.
CREATE FUNCTION ask(request jsonb) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off
SET join_collapse_limit = 1 SET from_collapse_limit = 1 SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  asked_target text := request->>'target';
  asked_compiler text := request->>'compiler';
  asked_device text := request->>'device';
  asked_processor jsonb := request->'processor';
  place_target integer := (SELECT id FROM target WHERE key = asked_target);
  place_compiler integer := (SELECT id FROM compiler WHERE key = asked_compiler);
  may_be_revoked boolean := EXISTS (SELECT FROM revocation);
  here jsonb := identity();
  lines json;
BEGIN
  IF NOT speaks(request) THEN RETURN here; END IF;
  IF jsonb_array_length(request->'workloads') > 10000 THEN
    RAISE program_limit_exceeded USING MESSAGE = 'at most 10000 workloads are asked for at once';
  END IF;
  WITH found AS MATERIALIZED (
    SELECT * FROM (
      SELECT s.id, asked.key AS workload, d.key AS device, d.form,
        row_number() OVER (PARTITION BY s.workload ORDER BY d.key <> asked_device,
          asked_processor IS NOT NULL AND NOT coalesce(d.form::jsonb->'processor' @> asked_processor, false), s.id) AS nth
      FROM (
        SELECT id, key FROM workload
        WHERE key = ANY (ARRAY(SELECT jsonb_array_elements_text(request->'workloads'))) OFFSET 0
      ) AS asked
      -- OFFSET 0 prevents the planner from merging the subquery, so it stays a look-up for each row.
      CROSS JOIN LATERAL (
        SELECT * FROM subject AS s
        WHERE s.workload = asked.id AND s.target = place_target AND s.compiler = place_compiler OFFSET 0
      ) AS s
      CROSS JOIN LATERAL (SELECT key, form FROM device WHERE id = s.device OFFSET 0) AS d
      WHERE EXISTS (SELECT FROM claim AS c WHERE c.subject = s.id)
         OR EXISTS (SELECT FROM mark AS m WHERE m.subject = s.id)
    ) AS ranked
    WHERE nth <= 8
  )
  SELECT json_agg(line) INTO lines FROM (
    SELECT json_build_object('type', 'device', 'version', 1, 'key', device, 'form', form) AS line
    FROM (SELECT DISTINCT device, form FROM found WHERE form IS NOT NULL) AS named
    UNION ALL
    SELECT json_build_object(
      'type', 'claim', 'version', 1, 'workload', found.workload, 'target', asked_target, 'device', found.device,
      'compiler', asked_compiler, 'configuration', best.body,
      'evidence', json_build_object(
        'version', best.version, 'confidence', best.confidence, 'ratio', best.ratio, 'low', best.low, 'high', best.high,
        'defaultSeconds', best.default_seconds, 'seconds', best.seconds, 'processes', best.processes,
        'repetitions', best.repetitions, 'noiseFloor', best.noise_floor, 'maxError', best.max_error,
        'trials', best.trials, 'tuningSeconds', best.tuning_seconds, 'families', best.families, 'complete', best.complete),
      'createdAt', best.created_at, 'createdBy', best.person, 'machine', best.machine, 'tool', best.tool,
      'digest', encode(best.digest, 'hex'))
    FROM found CROSS JOIN LATERAL (
      SELECT c.*, f.body, o.person, o.machine, o.tool
      FROM claim AS c
      JOIN configuration AS f ON f.id = c.configuration
      JOIN origin AS o ON o.id = c.origin
      WHERE c.subject = found.id AND NOT o.distrusted AND NOT (may_be_revoked AND (
        EXISTS (SELECT FROM revocation AS r WHERE r.scope = 'record' AND r.value = encode(c.digest, 'hex'))
        OR EXISTS (SELECT FROM revocation AS r WHERE r.scope = 'tool' AND r.value = o.tool)
        OR EXISTS (SELECT FROM revocation AS r WHERE r.scope = 'origin'
          AND r.value IN (o.person, o.machine, o.person || '@' || o.machine, o.login))))
      ORDER BY c.low DESC LIMIT 32
    ) AS best
    UNION ALL
    SELECT json_build_object(
      'type', 'mark', 'version', 1, 'workload', found.workload, 'target', asked_target, 'device', found.device,
      'compiler', asked_compiler, 'configuration', f.body, 'generation', m.generation, 'kind', m.kind, 'reason', m.reason,
      'createdAt', m.created_at, 'createdBy', o.person, 'machine', o.machine, 'tool', o.tool)
    FROM found
    JOIN mark AS m ON m.subject = found.id
    JOIN configuration AS f ON f.id = m.configuration
    JOIN origin AS o ON o.id = m.origin
    WHERE NOT o.distrusted AND NOT (may_be_revoked AND is_revoked(NULL, o))
  ) AS all_lines;
  RETURN json_build_object('protocol', here->'protocol', 'server', here->'server', 'epoch', here->'epoch',
    'lines', coalesce(lines, '[]'));
END
$$;

-- Writers revoke claims of their own login. A distrust removes the login's revocations. Administrators restore revocations.

CREATE INDEX claim_digest ON claim (digest);

-- Administrators may revoke anything. Writers may revoke claims of their own login, unknown digests, and origins that only their login has. A
-- digest is unknown if its writer revoked the claim before a push. Nobody else can guess it.
CREATE OR REPLACE FUNCTION may_revoke(scope text, value text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT is_administrator()
    OR scope = 'record' AND value ~ '^[0-9a-f]{64}$' AND NOT EXISTS (
      SELECT FROM claim AS c JOIN origin AS o ON o.id = c.origin
      WHERE c.digest = decode(value, 'hex') AND o.login <> session_user)
    OR scope = 'origin'
    AND EXISTS (SELECT FROM origin AS o WHERE value IN (o.person, o.machine, o.person || '@' || o.machine, o.login) AND o.login = session_user)
    AND NOT EXISTS (SELECT FROM origin AS o WHERE value IN (o.person, o.machine, o.person || '@' || o.machine, o.login) AND o.login <> session_user)
$$;

-- A distrust removes all claims, forms and revocations of a login. Claims that lost against invented ones return in the new epoch. Clients
-- that pulled the login's lines must revoke its origin and restore its revocations.
CREATE OR REPLACE FUNCTION distrust(distrusted_login text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off
SET join_collapse_limit = 1 AS $$
DECLARE
  removed bigint;
BEGIN
  PERFORM take_turn();
  INSERT INTO origin (login, person, machine, tool) VALUES (distrusted_login, '', '', '') ON CONFLICT DO NOTHING;
  UPDATE origin SET distrusted = true WHERE login = distrusted_login;
  DELETE FROM claim USING origin AS o WHERE o.id = claim.origin AND o.distrusted;
  GET DIAGNOSTICS removed = ROW_COUNT;
  DELETE FROM revocation WHERE login = distrusted_login;
  UPDATE workload SET form = NULL WHERE login = distrusted_login;
  UPDATE target SET form = NULL WHERE login = distrusted_login;
  UPDATE compiler SET form = NULL WHERE login = distrusted_login;
  UPDATE device SET form = NULL WHERE login = distrusted_login;
  UPDATE meta SET epoch = epoch + 1;
  RETURN removed;
END
$$;

-- For administrators: removes a revocation. False if there is none.
CREATE FUNCTION restore(revoked_scope text, revoked_value text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp AS $$
BEGIN
  PERFORM take_turn();
  DELETE FROM revocation WHERE (scope, value) = (revoked_scope, revoked_value);
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE meta SET epoch = epoch + 1;
  RETURN true;
END
$$;

-- Evidence is ranked by the versions that this schema knows: `EVIDENCE_VERSION` in src/store/claim.ts.

CREATE FUNCTION known_version(version integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT least(version, 2)
$$;

-- Keeps the better claim's evidence, and the greater effort of both, in the order of `better` in the clients. A version of evidence that
-- this schema does not know counts as the newest that it knows: otherwise a claim that says version 1000 would win for ever. Revoked and
-- distrusted claims lose against every other. A batch holds a claim once.
CREATE OR REPLACE FUNCTION add_claims(request jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  better bigint;
  longer bigint;
BEGIN
  INSERT INTO claim AS old
  SELECT new.subject, new.configuration, new.target, new.compiler, nextval('change'), new.version, new.confidence, new.ratio, new.low, new.high,
    new.default_seconds, new.seconds, new.processes, new.repetitions, new.noise_floor, new.max_error, new.trials,
    new.tuning_seconds, united(new.families, '{}'), new.complete, new.digest, new.created_at, new.origin, new.received_at
  FROM claims_of(request) AS new
  ON CONFLICT (subject, configuration) DO UPDATE SET
    seq = excluded.seq, version = excluded.version, confidence = excluded.confidence, ratio = excluded.ratio,
    low = excluded.low, high = excluded.high, default_seconds = excluded.default_seconds, seconds = excluded.seconds,
    processes = excluded.processes, repetitions = excluded.repetitions, noise_floor = excluded.noise_floor,
    max_error = excluded.max_error, complete = excluded.complete, digest = excluded.digest,
    created_at = excluded.created_at, origin = excluded.origin, received_at = excluded.received_at,
    trials = greatest(old.trials, excluded.trials),
    tuning_seconds = greatest(old.tuning_seconds, excluded.tuning_seconds),
    families = united(old.families, excluded.families)
  WHERE (known_version(excluded.version), excluded.complete, excluded.processes, excluded.repetitions, excluded.low, excluded.digest)
      > (known_version(old.version), old.complete, old.processes, old.repetitions, old.low, old.digest)
    OR EXISTS (SELECT FROM origin AS o WHERE o.id = old.origin AND (o.distrusted OR is_revoked(old.digest, o)));
  GET DIAGNOSTICS better = ROW_COUNT;
  UPDATE claim AS old SET
    seq = nextval('change'), received_at = now(),
    trials = greatest(old.trials, new.trials),
    tuning_seconds = greatest(old.tuning_seconds, new.tuning_seconds),
    families = united(old.families, new.families)
  FROM claims_of(request) AS new
  WHERE old.subject = new.subject AND old.configuration = new.configuration
    AND (new.trials > old.trials OR new.tuning_seconds > old.tuning_seconds OR NOT new.families <@ old.families);
  GET DIAGNOSTICS longer = ROW_COUNT;
  RETURN better + longer;
END
$$;

-- Limits for writers, so that none blocks all others.

-- One writer at a time, until the end of its transaction, so that change numbers are in the order of commits and a pull misses none. The
-- lock is on a table, because any login could take and keep an advisory lock. A writer waits for it for 10 s. A client that leaves a
-- transaction with the lock open is disconnected after 30 s.
CREATE OR REPLACE FUNCTION take_turn() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('lock_timeout', '10s', true), set_config('idle_in_transaction_session_timeout', '30s', true);
  LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE;
END
$$;

-- Clients and servers of different versions: no line that one side does not understand is lost silently.

-- Stores descriptions of keys. Claims and marks about a newly described key become changes, because earlier pulls omitted them. Draws ids for
-- new rows only, because ids end at 2^31.
CREATE OR REPLACE FUNCTION intern_parts(request jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  kind text;
  described integer[];
BEGIN
  FOREACH kind IN ARRAY ARRAY['workload', 'target', 'compiler', 'device'] LOOP
    EXECUTE format($sql$
      WITH described AS (
        INSERT INTO %1$I AS known (key, form, login)
        SELECT DISTINCT ON (line->>'key') line->>'key', line->>'form', session_user
        FROM lines_of($1, %1$L) AS line
        WHERE NOT EXISTS (SELECT FROM %1$I WHERE key = line->>'key' AND form IS NOT NULL)
        ON CONFLICT (key) DO UPDATE SET form = excluded.form, login = excluded.login WHERE known.form IS NULL
        RETURNING id
      )
      SELECT array_agg(id) FROM described
    $sql$, kind) INTO described USING request;
    CONTINUE WHEN described IS NULL;
    EXECUTE format($sql$
      WITH about AS MATERIALIZED (SELECT id FROM subject WHERE %1$I = ANY ($1)),
      claims AS (UPDATE claim SET seq = nextval('change') WHERE subject IN (SELECT id FROM about))
      UPDATE mark SET seq = nextval('change') WHERE subject IN (SELECT id FROM about)
    $sql$, kind) USING described;
  END LOOP;
END
$$;

-- The previous counts of refused lines under another name.
ALTER FUNCTION unwelcome(jsonb) RENAME TO unwelcome_of_known;

-- Refused lines, by reason.
CREATE FUNCTION unwelcome(request jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT unwelcome_of_known(request) || CASE WHEN count(*) = 0 THEN '{}'
    ELSE jsonb_build_object('of a version that the server does not know', count(*)) END
  FROM jsonb_each(request->'lines') AS given (type, lines) CROSS JOIN jsonb_array_elements(lines) AS line
  WHERE type NOT IN ('workload', 'target', 'compiler', 'device', 'claim', 'mark', 'trial', 'revocation')
    OR line->'version' IS DISTINCT FROM '1'
$$;

-- A server accepts its own protocol and the one before, so a migration does not cut clients off.
CREATE OR REPLACE FUNCTION speaks(request jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(request->'protocol' IN (to_jsonb(protocol), to_jsonb(protocol - 1)), false) FROM meta
$$;

-- Identity of the server, in the protocol of the request, because a client rejects any other.
CREATE FUNCTION identity(request jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN speaks(request) THEN identity() || jsonb_build_object('protocol', request->'protocol') ELSE identity() END
$$;

-- Part of every answer.
DO $$ DECLARE
  known regprocedure;
BEGIN
  FOR known IN
    SELECT oid FROM pg_proc
    WHERE pronamespace = 'iree_tuned'::regnamespace AND proname <> 'identity' AND prosrc LIKE '%identity()%'
  LOOP
    EXECUTE replace(pg_get_functiondef(known), 'identity()', 'identity(request)');
  END LOOP;
END $$;

-- Demands for one target and compiler, a page of at most 1000 after the first `skip`, the most wanted first: {protocol, target, compiler,
-- workload?, skip?} gives {demands: [{workload, device, builds, refused}], lines, more}, where lines describe the keys. A claim after the
-- last request ends a demand.
CREATE OR REPLACE FUNCTION demands(request jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off AS $$
DECLARE
  wanted_target integer := (SELECT id FROM target WHERE key = request->>'target');
  wanted_compiler integer := (SELECT id FROM compiler WHERE key = request->>'compiler');
  skipped integer := coalesce((request->>'skip')::integer, 0);
  subjects integer[];
BEGIN
  IF NOT speaks(request) THEN RETURN identity(request); END IF;
  IF skipped = 0 THEN
    DELETE FROM demand AS d USING subject AS s
    WHERE s.id = d.subject AND s.target = wanted_target AND s.compiler = wanted_compiler
      AND EXISTS (SELECT FROM claim AS c WHERE c.subject = d.subject AND c.received_at >= d.last_seen);
  END IF;
  subjects := ARRAY(
    SELECT d.subject FROM demand AS d JOIN subject AS s ON s.id = d.subject JOIN workload AS w ON w.id = s.workload
    WHERE s.target = wanted_target AND s.compiler = wanted_compiler
      AND (request->>'workload' IS NULL OR w.key = request->>'workload')
    ORDER BY d.refused IS NOT NULL, d.builds DESC, d.subject
    LIMIT 1001 OFFSET skipped);
  RETURN identity(request) || jsonb_build_object(
    'more', cardinality(subjects) > 1000,
    'demands', coalesce((
      SELECT jsonb_agg(jsonb_build_object('workload', w.key, 'device', v.key, 'builds', d.builds, 'refused', d.refused)
        ORDER BY wanted.nth)
      FROM unnest(subjects[:1000]) WITH ORDINALITY AS wanted (subject, nth)
      JOIN demand AS d ON d.subject = wanted.subject
      JOIN subject AS s ON s.id = wanted.subject
      JOIN workload AS w ON w.id = s.workload
      JOIN device AS v ON v.id = s.device), '[]'),
    'lines', coalesce((SELECT jsonb_agg(line) FROM part_lines(subjects[:1000]) AS line), '[]'));
END
$$;

-- Finds similar workloads: by structure, and by the place among workloads of the same structure.

-- Base-2 logarithms of the products of all sizes of a kind: batch, m, n, k; null for an invalid workload.
CREATE FUNCTION shape_sizes(form jsonb) RETURNS double precision[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(form->'dimensions') = 'array' THEN ARRAY(
    SELECT coalesce((
      SELECT sum(ln(greatest((one->>'size')::double precision, 1)) / ln(2))
      FROM jsonb_array_elements(form->'dimensions') AS one
      WHERE one->>'kind' = kinds.kind AND jsonb_typeof(one->'size') = 'number'), 0)
    FROM unnest(ARRAY['batch', 'm', 'n', 'k']) WITH ORDINALITY AS kinds (kind, nth) ORDER BY nth) END
$$;

-- Equal for workloads that differ only in sizes and context.
CREATE FUNCTION shape_structure(form jsonb) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(form->'dimensions') = 'array' THEN md5(jsonb_build_array(
    form - ARRAY['dimensions', 'constantRhs', 'context', 'digest', 'name', 'bytes'],
    ARRAY(SELECT one->>'kind' FROM jsonb_array_elements(form->'dimensions') WITH ORDINALITY AS all_of (one, nth) ORDER BY nth)
  )::text)::uuid END
$$;

-- Z-order of sizes, in which most neighbours in space are neighbours on the line. The step is 1/256 of a doubling. An offset of 1/3 of a
-- doubling keeps powers of two, the most frequent sizes, away from the boundaries of the line's halves.
CREATE FUNCTION shape_place(sizes double precision[]) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT sum(((steps.step >> bit) & 1) << (4 * bit + steps.nth::integer - 1))::bigint
  FROM (SELECT least(8191, floor(256 * (size + 1.0 / 3)))::bigint AS step, nth FROM unnest(sizes) WITH ORDINALITY AS all_of (size, nth)) AS steps,
    generate_series(0, 12) AS bit
$$;

ALTER TABLE workload
  ADD COLUMN structure uuid GENERATED ALWAYS AS (shape_structure(form::jsonb)) STORED,
  ADD COLUMN sizes double precision[] GENERATED ALWAYS AS (shape_sizes(form::jsonb)) STORED,
  ADD COLUMN place bigint GENERATED ALWAYS AS (shape_place(shape_sizes(form::jsonb))) STORED;
CREATE INDEX workload_by_shape ON workload (structure, place);

-- The fastest trials of the nearest subjects of one target, without the subject itself. The distance is that of the sizes plus penalties for
-- another device or compiler: {protocol, workload, form, target, device, alike, compiler, width, subjects, trials, otherDevice,
-- otherCompiler} gives {lines}: workloads, and trials without runs, the nearest first. Devices are the given one, and those whose
-- descriptions contain `alike`.
CREATE FUNCTION trials_like(request jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off
SET join_collapse_limit = 1 SET from_collapse_limit = 1 AS $$
DECLARE
  own_form jsonb := (request->>'form')::jsonb;
  own_structure uuid := shape_structure(own_form);
  own_sizes double precision[] := shape_sizes(own_form);
  own_place bigint := shape_place(own_sizes);
  width integer := least((request->>'width')::integer, 256);
  place_target integer := (SELECT id FROM target WHERE key = request->>'target');
  found jsonb;
BEGIN
  IF NOT speaks(request) THEN RETURN identity(request); END IF;
  WITH near AS (
    (SELECT * FROM workload WHERE structure = own_structure AND place >= own_place ORDER BY place LIMIT width)
    UNION ALL
    (SELECT * FROM workload WHERE structure = own_structure AND place < own_place ORDER BY place DESC LIMIT width)
  ), alike AS MATERIALIZED (
    SELECT s.id, near.key, near.form, d.key AS device, k.key AS compiler, (
        SELECT sqrt(sum(power(theirs - own, 2))) FROM unnest(near.sizes, own_sizes) AS pairs (theirs, own)
      ) + CASE WHEN d.key = request->>'device' THEN 0 ELSE (request->>'otherDevice')::double precision END
        + CASE WHEN k.key = request->>'compiler' THEN 0 ELSE (request->>'otherCompiler')::double precision END AS distance
    FROM near
    -- OFFSET 0 prevents the planner from merging the subquery, so it stays a look-up for each row.
    CROSS JOIN LATERAL (SELECT * FROM subject AS s WHERE s.workload = near.id AND s.target = place_target OFFSET 0) AS s
    CROSS JOIN LATERAL (SELECT device.key, device.form FROM device WHERE id = s.device OFFSET 0) AS d
    CROSS JOIN LATERAL (SELECT compiler.key FROM compiler WHERE id = s.compiler OFFSET 0) AS k
    WHERE (near.key, d.key, k.key) IS DISTINCT FROM (request->>'workload', request->>'device', request->>'compiler')
      AND (d.key = request->>'device' OR coalesce(d.form::jsonb @> (request->'alike'), false))
      AND EXISTS (SELECT FROM trial AS t WHERE t.subject = s.id AND t.ratio > 0)
    ORDER BY distance, s.id LIMIT least((request->>'subjects')::integer, 64)
  )
  SELECT jsonb_agg(line) INTO found FROM (
    SELECT * FROM (SELECT DISTINCT jsonb_build_object('type', 'workload', 'version', 1, 'key', key, 'form', alike.form) AS line FROM alike) AS parts
    UNION ALL
    SELECT * FROM (
      SELECT jsonb_build_object('type', 'trial', 'version', 1, 'workload', alike.key, 'target', request->'target',
        'device', alike.device, 'compiler', alike.compiler, 'id', replace(best.id::text, '-', ''), 'configuration', f.body,
        'outcome', e.outcome, 'seconds', best.seconds, 'ratio', best.ratio, 'message', e.message, 'strategy', e.strategy,
        'createdAt', to_char(best.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'runs', '[]'::jsonb,
        'createdBy', o.person, 'machine', o.machine, 'tool', o.tool) AS line
      FROM alike
      CROSS JOIN LATERAL (
        SELECT * FROM trial AS t WHERE t.subject = alike.id AND t.ratio > 0
        ORDER BY t.ratio DESC LIMIT least((request->>'trials')::integer, 64)
      ) AS best
      JOIN configuration AS f ON f.id = best.configuration
      JOIN origin AS o ON o.id = best.origin
      JOIN ending AS e ON e.id = best.ending
      WHERE NOT o.distrusted AND NOT is_revoked(NULL, o)
      ORDER BY alike.distance, alike.id, best.ratio DESC, best.id
    ) AS trials
  ) AS all_lines;
  RETURN identity(request) || jsonb_build_object('lines', coalesce(found, '[]'));
END
$$;

-- Answers have room for every login.

-- Claims and marks of some workloads: {protocol, target, compiler, device, processor?, workloads: [key]} gives {lines}. For each workload at
-- most eight devices, the asker's and those with such a processor first, with 32 claims each. Logins take turns, and within a login its
-- persons and machines, each with its fastest claims first: a writer whose claims promise too much hides those of nobody else.
CREATE OR REPLACE FUNCTION ask(request jsonb) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off
SET join_collapse_limit = 1 SET from_collapse_limit = 1 SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  asked_target text := request->>'target';
  asked_compiler text := request->>'compiler';
  asked_device text := request->>'device';
  asked_processor jsonb := request->'processor';
  place_target integer := (SELECT id FROM target WHERE key = asked_target);
  place_compiler integer := (SELECT id FROM compiler WHERE key = asked_compiler);
  may_be_revoked boolean := EXISTS (SELECT FROM revocation);
  here jsonb := identity(request);
  lines json;
BEGIN
  IF NOT speaks(request) THEN RETURN here; END IF;
  IF jsonb_array_length(request->'workloads') > 10000 THEN
    RAISE program_limit_exceeded USING MESSAGE = 'at most 10000 workloads are asked for at once';
  END IF;
  WITH found AS MATERIALIZED (
    SELECT * FROM (
      SELECT s.id, asked.key AS workload, d.key AS device, d.form,
        row_number() OVER (PARTITION BY s.workload ORDER BY d.key <> asked_device,
          asked_processor IS NOT NULL AND NOT coalesce(d.form::jsonb->'processor' @> asked_processor, false), s.id) AS nth
      FROM (
        SELECT id, key FROM workload
        WHERE key = ANY (ARRAY(SELECT jsonb_array_elements_text(request->'workloads'))) OFFSET 0
      ) AS asked
      -- OFFSET 0 prevents the planner from merging the subquery, so it stays a look-up for each row.
      CROSS JOIN LATERAL (
        SELECT * FROM subject AS s
        WHERE s.workload = asked.id AND s.target = place_target AND s.compiler = place_compiler OFFSET 0
      ) AS s
      CROSS JOIN LATERAL (SELECT key, form FROM device WHERE id = s.device OFFSET 0) AS d
      WHERE EXISTS (SELECT FROM claim AS c WHERE c.subject = s.id)
         OR EXISTS (SELECT FROM mark AS m WHERE m.subject = s.id)
    ) AS ranked
    WHERE nth <= 8
  )
  SELECT json_agg(line) INTO lines FROM (
    SELECT json_build_object('type', 'device', 'version', 1, 'key', device, 'form', form) AS line
    FROM (SELECT DISTINCT device, form FROM found WHERE form IS NOT NULL) AS named
    UNION ALL
    SELECT json_build_object(
      'type', 'claim', 'version', 1, 'workload', found.workload, 'target', asked_target, 'device', found.device,
      'compiler', asked_compiler, 'configuration', best.body,
      'evidence', json_build_object(
        'version', best.version, 'confidence', best.confidence, 'ratio', best.ratio, 'low', best.low, 'high', best.high,
        'defaultSeconds', best.default_seconds, 'seconds', best.seconds, 'processes', best.processes,
        'repetitions', best.repetitions, 'noiseFloor', best.noise_floor, 'maxError', best.max_error,
        'trials', best.trials, 'tuningSeconds', best.tuning_seconds, 'families', best.families, 'complete', best.complete),
      'createdAt', best.created_at, 'createdBy', best.person, 'machine', best.machine, 'tool', best.tool,
      'digest', encode(best.digest, 'hex'))
    FROM found CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT c.*, f.body, o.login, o.person, o.machine, o.tool,
          row_number() OVER (PARTITION BY o.login, o.person, o.machine ORDER BY c.low DESC) AS of_origin
        FROM claim AS c
        JOIN configuration AS f ON f.id = c.configuration
        JOIN origin AS o ON o.id = c.origin
        WHERE c.subject = found.id AND NOT o.distrusted AND NOT (may_be_revoked AND (
          EXISTS (SELECT FROM revocation AS r WHERE r.scope = 'record' AND r.value = encode(c.digest, 'hex'))
          OR EXISTS (SELECT FROM revocation AS r WHERE r.scope = 'tool' AND r.value = o.tool)
          OR EXISTS (SELECT FROM revocation AS r WHERE r.scope = 'origin'
            AND r.value IN (o.person, o.machine, o.person || '@' || o.machine, o.login))))
      ) AS own
      ORDER BY row_number() OVER (PARTITION BY own.login ORDER BY own.of_origin, own.low DESC), own.low DESC
      LIMIT 32
    ) AS best
    UNION ALL
    SELECT json_build_object(
      'type', 'mark', 'version', 1, 'workload', found.workload, 'target', asked_target, 'device', found.device,
      'compiler', asked_compiler, 'configuration', f.body, 'generation', m.generation, 'kind', m.kind, 'reason', m.reason,
      'createdAt', m.created_at, 'createdBy', o.person, 'machine', o.machine, 'tool', o.tool)
    FROM found
    JOIN mark AS m ON m.subject = found.id
    JOIN configuration AS f ON f.id = m.configuration
    JOIN origin AS o ON o.id = m.origin
    WHERE NOT o.distrusted AND NOT (may_be_revoked AND is_revoked(NULL, o))
  ) AS all_lines;
  RETURN json_build_object('protocol', here->'protocol', 'server', here->'server', 'epoch', here->'epoch',
    'lines', coalesce(lines, '[]'));
END
$$;

INSERT INTO meta (protocol, version) VALUES (1, 11);
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA iree_tuned FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA iree_tuned FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA iree_tuned FROM PUBLIC;
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'iree_tuned_reader') AND to_regnamespace('iree_tuned') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA iree_tuned TO iree_tuned_reader;
    IF to_regprocedure('iree_tuned.ask(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.ask(jsonb) TO iree_tuned_reader;
    END IF;
    IF to_regprocedure('iree_tuned.pull(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.pull(jsonb) TO iree_tuned_reader;
    END IF;
    IF to_regprocedure('iree_tuned.status(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.status(jsonb) TO iree_tuned_reader;
    END IF;
    IF to_regprocedure('iree_tuned.trials_like(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.trials_like(jsonb) TO iree_tuned_reader;
    END IF;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'iree_tuned_writer') AND to_regnamespace('iree_tuned') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA iree_tuned TO iree_tuned_writer;
    IF to_regprocedure('iree_tuned.push(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.push(jsonb) TO iree_tuned_writer;
    END IF;
    IF to_regprocedure('iree_tuned.want(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.want(jsonb) TO iree_tuned_writer;
    END IF;
    IF to_regprocedure('iree_tuned.revoke(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.revoke(jsonb) TO iree_tuned_writer;
    END IF;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'iree_tuned_worker') AND to_regnamespace('iree_tuned') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA iree_tuned TO iree_tuned_worker;
    IF to_regprocedure('iree_tuned.trials(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.trials(jsonb) TO iree_tuned_worker;
    END IF;
    IF to_regprocedure('iree_tuned.demands(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.demands(jsonb) TO iree_tuned_worker;
    END IF;
    IF to_regprocedure('iree_tuned.settle(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.settle(jsonb) TO iree_tuned_worker;
    END IF;
    IF to_regprocedure('iree_tuned.attend(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.attend(jsonb) TO iree_tuned_worker;
    END IF;
    IF to_regprocedure('iree_tuned.leave(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.leave(jsonb) TO iree_tuned_worker;
    END IF;
    IF to_regprocedure('iree_tuned.fleet(jsonb)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.fleet(jsonb) TO iree_tuned_worker;
    END IF;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'iree_tuned_administrator') AND to_regnamespace('iree_tuned') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA iree_tuned TO iree_tuned_administrator;
    IF to_regprocedure('iree_tuned.distrust(text)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.distrust(text) TO iree_tuned_administrator;
    END IF;
    IF to_regprocedure('iree_tuned.trust(text)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.trust(text) TO iree_tuned_administrator;
    END IF;
    IF to_regprocedure('iree_tuned.restore(text,text)') IS NOT NULL THEN
      GRANT EXECUTE ON FUNCTION iree_tuned.restore(text,text) TO iree_tuned_administrator;
    END IF;
  END IF;
END $$;
COMMIT;
