-- The roles and tables of a team's PostgreSQL server with schema 11, and its functions that an export or the filling of the server calls. A
-- superuser runs this file in an empty database.
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

-- A server accepts its own protocol and the one before, so a migration does not cut clients off.
CREATE FUNCTION speaks(request jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(request->'protocol' IN (to_jsonb(protocol), to_jsonb(protocol - 1)), false) FROM meta
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
-- lock is on a table, because any login could take and keep an advisory lock. A writer waits for it for 10 s. A client that leaves a
-- transaction with the lock open is disconnected after 30 s.
CREATE FUNCTION take_turn() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('lock_timeout', '10s', true), set_config('idle_in_transaction_session_timeout', '30s', true);
  LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE;
END
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

-- Stores descriptions of keys. Claims and marks about a newly described key become changes, because earlier pulls omitted them. Draws ids for
-- new rows only, because ids end at 2^31.
CREATE FUNCTION intern_parts(request jsonb) RETURNS void LANGUAGE plpgsql AS $$
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

-- Administrators may revoke anything. Writers may revoke claims of their own login, unknown digests, and origins that only their login has. A
-- digest is unknown if its writer revoked the claim before a push. Nobody else can guess it.
CREATE FUNCTION may_revoke(scope text, value text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT is_administrator()
    OR scope = 'record' AND value ~ '^[0-9a-f]{64}$' AND NOT EXISTS (
      SELECT FROM claim AS c JOIN origin AS o ON o.id = c.origin
      WHERE c.digest = decode(value, 'hex') AND o.login <> session_user)
    OR scope = 'origin'
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

-- Keeps the better claim's evidence, and the greater effort of both, in the order of `better` in the clients. A version of evidence that
-- this schema does not know counts as the newest that it knows: otherwise a claim that says version 1000 would win for ever. Revoked and
-- distrusted claims lose against every other. A batch holds a claim once.
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

CREATE INDEX claim_digest ON claim (digest);

CREATE FUNCTION known_version(version integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT least(version, 2)
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

INSERT INTO meta (protocol, version) VALUES (1, 11);
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA iree_tuned FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA iree_tuned FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA iree_tuned FROM PUBLIC;
GRANT USAGE ON SCHEMA iree_tuned TO iree_tuned_reader, iree_tuned_writer, iree_tuned_worker, iree_tuned_administrator;
GRANT EXECUTE ON FUNCTION iree_tuned.pull(jsonb) TO iree_tuned_reader;
GRANT EXECUTE ON FUNCTION iree_tuned.push(jsonb) TO iree_tuned_writer;
GRANT EXECUTE ON FUNCTION iree_tuned.trials(jsonb) TO iree_tuned_worker;
COMMIT;
