-- Writers revoke the claims of their own login, distrust withdraws the revocations of a login, and an administrator restores.

CREATE INDEX claim_digest ON claim (digest);

-- An administrator revokes anything. A writer revokes no claim of another login, and origins of its own login alone. A claim that is not
-- here, because its writer has revoked it before it was pushed, is nobody else's: its digest cannot be guessed.
CREATE OR REPLACE FUNCTION may_revoke(scope text, value text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT is_administrator()
    OR scope = 'record' AND value ~ '^[0-9a-f]{64}$' AND NOT EXISTS (
      SELECT FROM claim AS c JOIN origin AS o ON o.id = c.origin
      WHERE c.digest = decode(value, 'hex') AND o.login <> session_user)
    OR scope = 'origin'
    AND EXISTS (SELECT FROM origin AS o WHERE value IN (o.person, o.machine, o.person || '@' || o.machine, o.login) AND o.login = session_user)
    AND NOT EXISTS (SELECT FROM origin AS o WHERE value IN (o.person, o.machine, o.person || '@' || o.machine, o.login) AND o.login <> session_user)
$$;

-- Distrust withdraws everything that a login has brought: claims, forms and revocations. Others' claims that were worse only beside
-- made-up ones come back in the new epoch. Clients that have pulled the login's lines revoke its origin and restore its revocations.
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

-- For an administrator: takes a revocation back. False if there is none.
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
