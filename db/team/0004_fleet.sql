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
