-- Older processes may keep running: yes (they read records by kind more slowly).
--
-- One walk for each kind, and of each agent's: a list of rare records does not read the others of its chain.
DROP INDEX flyball.records_governance;
CREATE INDEX records_kind ON flyball.records (kind, seq) WHERE kind NOT IN ('decision.witnessed', 'decision.settled');
CREATE INDEX records_agent_kind ON flyball.records (agent_id, kind, seq)
  WHERE agent_id IS NOT NULL AND kind NOT IN ('decision.witnessed', 'decision.settled');
