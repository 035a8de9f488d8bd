-- The roles and tables of a team's PostgreSQL server with schema 11, and the functions that an export calls. A superuser runs this file in
-- an empty database.
BEGIN;
DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['reader', 'writer', 'worker', 'administrator'] LOOP
    IF to_regrole('iree_tuned_' || role) IS NULL THEN EXECUTE format('CREATE ROLE %I NOLOGIN', 'iree_tuned_' || role); END IF;
  END LOOP;
END $$;
GRANT iree_tuned_reader TO iree_tuned_writer;
GRANT iree_tuned_writer TO iree_tuned_worker;
GRANT iree_tuned_worker TO iree_tuned_administrator;
GRANT iree_tuned_administrator TO CURRENT_USER;
CREATE SCHEMA iree_tuned AUTHORIZATION iree_tuned_administrator;
SET LOCAL ROLE iree_tuned_administrator;
SET LOCAL search_path = iree_tuned, pg_temp;

-- Only the owner accesses tables. Other logins call functions.

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

-- Numbers of changes in the order of commits.
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

-- Outcomes and strategies, which many trials share.
CREATE TABLE ending (
  id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest   bytea NOT NULL UNIQUE,
  outcome  text NOT NULL CHECK (outcome IN ('measured', 'compile-error', 'run-error', 'timeout', 'wrong-result')),
  strategy text NOT NULL CHECK (octet_length(strategy) <= 1024),
  message  text CHECK (octet_length(message) <= 1024)
);

-- Trials, in a partition for each month: millions of rows with 76 bytes. The order of columns leaves no gaps. Eight columns need one byte
-- for their nulls. No foreign keys, because each row would need look-ups.
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

-- A server accepts its own protocol and the one before, so a migration does not cut clients off.
CREATE FUNCTION speaks(request jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(request->'protocol' IN (to_jsonb(protocol), to_jsonb(protocol - 1)), false) FROM meta
$$;

-- Identity of the server, in the protocol of the request, because a client rejects any other. The epoch changes when cursors become invalid:
-- a restored backup has other tables or another timeline.
CREATE FUNCTION identity(request jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('server', server,
    'protocol', CASE WHEN speaks(request) THEN request->'protocol' ELSE to_jsonb(protocol) END,
    'epoch', concat_ws('.', epoch, 'iree_tuned.claim'::regclass::oid, (SELECT timeline_id FROM pg_control_checkpoint())))
  FROM meta
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

-- Changes since a cursor, at most 1000 a page: {protocol, server, epoch, seq, target, compiler, device?} gives {lines, seq, more, restarted}.
-- A cursor of another server or epoch, or ahead of this server, starts over.
CREATE FUNCTION pull(request jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = iree_tuned, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET jit = off AS $$
DECLARE
  here jsonb := identity(request);
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
  IF NOT speaks(request) THEN RETURN identity(request); END IF;
  RETURN identity(request) || jsonb_build_object('lines', coalesce((
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

-- Stores valid exchange lines with forms as texts, for tests: servers merged the lines of writers here.
CREATE TABLE later_trials PARTITION OF trial DEFAULT;
CREATE FUNCTION fill(lines jsonb) RETURNS void LANGUAGE plpgsql SET search_path = iree_tuned, pg_temp AS $$
DECLARE
  part text;
BEGIN
  FOREACH part IN ARRAY ARRAY['workload', 'target', 'compiler', 'device'] LOOP
    EXECUTE format($sql$
      INSERT INTO %1$I (key, form, login)
      SELECT DISTINCT ON (key) key, form, session_user
      FROM jsonb_to_recordset($1) AS line (type text, key text, form text) WHERE type = %1$L
    $sql$, part) USING lines;
  END LOOP;
  CREATE TEMPORARY TABLE about ON COMMIT DROP AS
  SELECT line, line->>'type' AS type, w.id AS workload, t.id AS target, k.id AS compiler, d.id AS device,
    sha256(convert_to(line->>'configuration', 'UTF8')) AS digest
  FROM jsonb_array_elements(lines) AS line
  JOIN workload AS w ON w.key = line->>'workload' JOIN target AS t ON t.key = line->>'target'
  JOIN compiler AS k ON k.key = line->>'compiler' JOIN device AS d ON d.key = line->>'device';
  INSERT INTO subject (workload, target, compiler, device) SELECT DISTINCT workload, target, compiler, device FROM about;
  INSERT INTO configuration (digest, body) SELECT DISTINCT digest, line->'configuration' FROM about;
  INSERT INTO origin (login, person, machine, tool)
  SELECT DISTINCT session_user, line->>'createdBy', line->>'machine', line->>'tool' FROM about;
  CREATE TEMPORARY TABLE known ON COMMIT DROP AS
  SELECT a.*, s.id AS subject, f.id AS configuration, o.id AS origin
  FROM about AS a JOIN subject AS s USING (workload, target, compiler, device) JOIN configuration AS f USING (digest)
  JOIN origin AS o ON (o.person, o.machine, o.tool) = (line->>'createdBy', line->>'machine', line->>'tool');
  INSERT INTO claim
  SELECT subject, configuration, target, compiler, nextval('change'),
    e.version, e.confidence, e.ratio, e.low, e.high, e."defaultSeconds", e.seconds, e.processes, e.repetitions,
    e."noiseFloor", e."maxError", e.trials, e."tuningSeconds", e.families, e.complete,
    decode(line->>'digest', 'hex'), line->>'createdAt', origin
  FROM known CROSS JOIN jsonb_to_record(line->'evidence') AS e (version integer, confidence double precision,
    ratio double precision, low double precision, high double precision, "defaultSeconds" double precision,
    seconds double precision, processes integer, repetitions bigint, "noiseFloor" double precision,
    "maxError" double precision, trials bigint, "tuningSeconds" double precision, families text[], complete boolean)
  WHERE type = 'claim';
  INSERT INTO mark
  SELECT subject, configuration, target, compiler, (line->'generation')::integer, line->>'kind', origin, line->>'reason',
    line->>'createdAt', nextval('change')
  FROM known WHERE type = 'mark';
  INSERT INTO revocation
  SELECT scope, value, reason, "createdAt", "createdBy", session_user, nextval('change')
  FROM jsonb_to_recordset(lines)
    AS line (type text, scope text, value text, reason text, "createdAt" text, "createdBy" text)
  WHERE type = 'revocation';
  INSERT INTO ending (digest, outcome, strategy, message)
  SELECT DISTINCT sha256(convert_to(jsonb_build_array(line->'outcome', line->'strategy', line->'message')::text, 'UTF8')),
    line->>'outcome', line->>'strategy', line->>'message'
  FROM known WHERE type = 'trial';
  INSERT INTO trial
  SELECT (line->>'id')::uuid, (line->>'createdAt')::timestamptz, subject, configuration, origin, e.id,
    (line->'seconds')::real, (line->'ratio')::real
  FROM known JOIN ending AS e
    ON (e.outcome, e.strategy, e.message) IS NOT DISTINCT FROM (line->>'outcome', line->>'strategy', line->>'message')
  WHERE type = 'trial';
END
$$;

INSERT INTO meta (protocol, version) VALUES (1, 11);
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA iree_tuned FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA iree_tuned FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA iree_tuned FROM PUBLIC;
GRANT USAGE ON SCHEMA iree_tuned TO iree_tuned_reader, iree_tuned_writer, iree_tuned_worker, iree_tuned_administrator;
GRANT EXECUTE ON FUNCTION iree_tuned.pull(jsonb) TO iree_tuned_reader;
GRANT EXECUTE ON FUNCTION iree_tuned.trials(jsonb) TO iree_tuned_worker;
COMMIT;
