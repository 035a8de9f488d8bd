-- Writers revoke claims of their own login. A distrust removes the login's revocations. Administrators restore revocations.

CREATE INDEX claim_digest ON claim (digest);

-- Administrators may revoke anything. Writers may revoke claims of their own login, unknown digests, and origins that only their login has. A
-- digest is unknown if its writer revoked the claim before a push. Nobody else can guess it.
CREATE OR REPLACE FUNCTION may_revoke(scope text, value text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT is_administrator()
    OR scope = 'record' AND value ~ '^[0-9a-f]{64}$' AND NOT EXISTS (
      SELECT FROM claim AS c JOIN origin AS o ON o.id = c.origin
      WHERE c.digest = decode(value, 'hex') AND o.login <> session_user)
    OR scope = 'origin'
    AND EXISTS (SELECT FROM origin AS o WHERE value IN (o.person, o.machine, o.person || '@' || o.machine, o.login) AND o.login = session_user)
    AND NOT EXISTS (SELECT FROM origin AS o WHERE value IN (o.person, o.machine, o.person || '@' || o.machine, o.login) AND o.login <> session_user)
$$;

-- A distrust removes all claims, forms and revocations of a login. Claims that lost against invented ones return in the new epoch. Clients
-- that pulled the login's lines must revoke its origin and restore its revocations.
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

-- For administrators: removes a revocation. False if there is none.
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
