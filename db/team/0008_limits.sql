-- Limits for writers, so that none of them stops all others.

-- One writer at a time, until the end of its transaction: numbers of changes are in the order of commits, so a reader misses none. The
-- lock is on a table, because any login may take an advisory lock and keep it. A writer waits ten seconds for its turn. A client that
-- takes its turn in a transaction of its own and leaves it open is disconnected after thirty.
CREATE OR REPLACE FUNCTION take_turn() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('lock_timeout', '10s', true), set_config('idle_in_transaction_session_timeout', '30s', true);
  LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE;
END
$$;
