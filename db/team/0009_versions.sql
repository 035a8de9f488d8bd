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
