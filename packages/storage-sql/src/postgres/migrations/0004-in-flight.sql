-- Older processes may keep running: no (they would look for what is in flight where it is not any more; what they ask fails, and they send nothing).
--
-- Nobody claims, settles or reads from here on, until all of it is moved.
LOCK TABLE flyball.deliveries, flyball.attempts, flyball.turns IN ACCESS EXCLUSIVE MODE;

-- What waits, in the order in which it is taken, that which is due longest first: found and removed by a claim without touching the delivery itself. Whoever removes a row has locked the endpoint's row of `turns`.
-- Vacuumed early: whoever looks for what is due walks over what was due until then.
CREATE TABLE flyball.pending (
  endpoint_id text COLLATE "C" NOT NULL,
  next_at_ms bigint NOT NULL,
  sequence bigint NOT NULL,
  delivery_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  attempts integer NOT NULL,
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (endpoint_id, next_at_ms, sequence)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX pending_due ON flyball.pending (next_at_ms);
INSERT INTO flyball.pending (endpoint_id, next_at_ms, sequence, delivery_id, event_id, attempts, created_at_ms)
  SELECT endpoint_id, next_at_ms, sequence, id, event_id, attempts, created_at_ms FROM flyball.deliveries WHERE state = 0;

-- What somebody sends, with the attempt that the claim counted. Removed by the commit that settles it, and by nothing else.
CREATE TABLE flyball.in_flight (
  endpoint_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  delivery_id text COLLATE "C" NOT NULL,
  attempt integer NOT NULL,
  started_at_ms bigint NOT NULL,
  lease_until_ms bigint NOT NULL,
  -- What is answered is not to be kept.
  answer_forgotten boolean NOT NULL DEFAULT false,
  PRIMARY KEY (endpoint_id, sequence)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX in_flight_leases ON flyball.in_flight (lease_until_ms);
INSERT INTO flyball.in_flight (endpoint_id, sequence, delivery_id, attempt, started_at_ms, lease_until_ms)
  SELECT d.endpoint_id, d.sequence, d.id, d.attempts, a.started_at_ms, d.lease_until_ms
  FROM flyball.deliveries d JOIN flyball.attempts a ON a.delivery_id = d.id AND a.attempt = d.attempts WHERE d.state = 1;

-- An attempt is written here when it has ended.
DELETE FROM flyball.attempts a USING flyball.in_flight f WHERE a.delivery_id = f.delivery_id AND a.attempt = f.attempt;
-- Owed, with the attempts that have ended, as long as it is in flight. When it was due before, nobody knows any more.
UPDATE flyball.deliveries d SET state = 0, attempts = f.attempt - 1 FROM flyball.in_flight f WHERE d.id = f.delivery_id;

-- state: 0 owed (and in flight, where `in_flight` has it), 2 succeeded, 3 failed, 4 cancelled. `next_at_ms` is when it was to be tried last, as its row of `pending` has it.
DROP INDEX flyball.deliveries_pending;
DROP INDEX flyball.deliveries_due;
DROP INDEX flyball.deliveries_in_flight;
DROP INDEX flyball.deliveries_leases;
ALTER TABLE flyball.deliveries DROP COLUMN retry, DROP COLUMN lease_until_ms;
-- Room beside each row for the one that says how it ended: then no index is written.
ALTER TABLE flyball.deliveries SET (fillfactor = 50);
ALTER TABLE flyball.deliveries RESET (autovacuum_vacuum_threshold, autovacuum_vacuum_scale_factor);

-- What a receiver answered is forgotten when its address is erased. Vacuumed soon after, as parts are.
ALTER TABLE flyball.attempts SET (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1, toast.autovacuum_vacuum_scale_factor = 0);

-- Turns are numbers of claims and places in them, and no index has them: a row is updated in its place.
CREATE SEQUENCE flyball.claim_numbers;
SELECT setval('flyball.claim_numbers', (SELECT coalesce(max(turn), 0) / 1000 + 1 FROM flyball.turns));
DROP INDEX flyball.turns_last;
ALTER TABLE flyball.turns SET (fillfactor = 50);
