-- Older processes may keep running: no (they would commit acts that nobody is told of).
--
-- No released plan ever wrote a row of it.
DROP TABLE flyball.deliveries;

-- What webhooks tell of. Ids are in the order of commits; data is JSON as text.
CREATE TABLE flyball.events (
  id text COLLATE "C" PRIMARY KEY,
  type text COLLATE "C" NOT NULL,
  at_ms bigint NOT NULL,
  seq bigint NOT NULL,
  hash bytea NOT NULL,
  data text NOT NULL
);

-- state: 0 pending, 1 in flight, 2 succeeded, 3 failed, 4 cancelled. Finished ones are in no index by time: a claim costs the same however many there are.
-- Vacuumed early: whoever looks for what is due walks over what was due until then.
CREATE TABLE flyball.deliveries (
  id text COLLATE "C" PRIMARY KEY,
  event_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  state smallint NOT NULL,
  attempts integer NOT NULL,
  retry smallint NOT NULL GENERATED ALWAYS AS (CASE WHEN attempts > 0 THEN 1 ELSE 0 END) STORED,
  created_at_ms bigint NOT NULL,
  next_at_ms bigint,
  lease_until_ms bigint,
  finished_at_ms bigint,
  UNIQUE (endpoint_id, sequence)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX deliveries_pending ON flyball.deliveries (endpoint_id, retry, next_at_ms, sequence) WHERE state = 0;
CREATE INDEX deliveries_due ON flyball.deliveries (next_at_ms) WHERE state = 0;
CREATE INDEX deliveries_in_flight ON flyball.deliveries (endpoint_id) WHERE state = 1;
CREATE INDEX deliveries_leases ON flyball.deliveries (lease_until_ms) WHERE state = 1;

-- A row is written when it is claimed. excerpt is a JSON string: it may hold what no text can.
CREATE TABLE flyball.attempts (
  delivery_id text COLLATE "C" NOT NULL,
  attempt integer NOT NULL,
  started_at_ms bigint NOT NULL,
  ended_at_ms bigint,
  status_code integer,
  error_code text,
  excerpt text NOT NULL,
  PRIMARY KEY (delivery_id, attempt)
);

-- The last sequence of each endpoint that was ever owed anything. Written by commits, under the head's lock.
CREATE TABLE flyball.sequences (endpoint_id text COLLATE "C" PRIMARY KEY, sequence bigint NOT NULL) WITH (fillfactor = 50);

-- When each of them was served last. Whoever claims locks the rows of the endpoints that he takes from; commits only add rows, and wait for nobody.
CREATE TABLE flyball.turns (endpoint_id text COLLATE "C" PRIMARY KEY, turn bigint NOT NULL);
CREATE INDEX turns_last ON flyball.turns (turn);
