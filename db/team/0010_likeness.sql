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
