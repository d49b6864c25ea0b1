-- Older processes may keep running: no (they would put reviews without the keys by which lists find them).
--
-- The keys of reviews, as reviewKeys of @flyball/rules makes them: an order for each list of them.
DELETE FROM flyball.document_keys WHERE collection = 'reviews';
INSERT INTO flyball.document_keys (collection, key, value, id, single)
  WITH q AS MATERIALIZED (
    SELECT id, body::json ->> 'agentId' || ' ' AS agent, coalesce(body::json ->> 'ended', 'live') AS ended,
      body::json ->> 'claimedBy' AS claimed_by, lpad(body::json ->> 'openedAtMs', 16, '0') || ' ' || id AS place,
      lpad(body::json ->> 'expiresAtMs', 16, '0') || ' ' || id AS ends
    FROM flyball.documents WHERE collection = 'reviews'
  )
  SELECT 'reviews', 'status', ended || ' ' || place, id, false FROM q
  UNION ALL SELECT 'reviews', 'agent_status', agent || ended || ' ' || place, id, false FROM q
  UNION ALL SELECT 'reviews', 'ends', ends, id, false FROM q WHERE ended = 'live'
  UNION ALL SELECT 'reviews', 'claimed', place, id, false FROM q WHERE ended = 'live' AND claimed_by IS NOT NULL;
