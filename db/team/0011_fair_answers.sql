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
