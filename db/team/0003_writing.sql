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
