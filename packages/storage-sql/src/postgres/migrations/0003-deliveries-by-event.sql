-- Older processes may keep running: yes (they write rows that are in the index like any other).
--
-- A delivery of the commit that caused its event has the time of that commit in its id, as the event has. What was owed once more later is found by this.
-- Hardly any row is in it, so it costs hardly anything.
CREATE INDEX deliveries_again ON flyball.deliveries (event_id) WHERE substr(id, 5, 9) <> substr(event_id, 5, 9);
