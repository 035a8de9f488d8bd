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
