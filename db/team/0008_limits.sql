-- Limits for writers, so that none blocks all others.

-- One writer at a time, until the end of its transaction, so that change numbers are in the order of commits and a pull misses none. The
-- lock is on a table, because any login could take and keep an advisory lock. A writer waits for it for 10 s. A client that leaves a
-- transaction with the lock open is disconnected after 30 s.
CREATE OR REPLACE FUNCTION take_turn() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('lock_timeout', '10s', true), set_config('idle_in_transaction_session_timeout', '30s', true);
  LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE;
END
$$;
