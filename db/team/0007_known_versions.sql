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
