-- Older processes may keep running: no (there are none).
--
-- Text compares by bytes everywhere (COLLATE "C"): the order of ids must not depend on how a database was made.
-- Documents and webhook bodies are JSON as text, never jsonb, which reorders names and refuses U+0000.

-- Storage's time, in milliseconds since 1970. All SQL reads time here; only a test replaces it.
CREATE FUNCTION flyball.flyball_now() RETURNS bigint LANGUAGE sql VOLATILE
  AS 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

-- One row. Whoever locks it may append; everybody else waits. Narrow and with much room, so that it is updated in place.
CREATE TABLE flyball.head (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  seq bigint NOT NULL,
  hash bytea NOT NULL,
  at_ms bigint NOT NULL,
  -- Processes that know fewer migrations than this must stop writing.
  oldest_writer integer NOT NULL
) WITH (fillfactor = 10);
INSERT INTO flyball.head (seq, hash, at_ms, oldest_writer) VALUES (-1, decode(repeat('00', 32), 'hex'), 0, 1);

CREATE TABLE flyball.records (
  seq bigint PRIMARY KEY,
  at_ms bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C",
  hash bytea NOT NULL,
  bytes bytea NOT NULL
);
ALTER TABLE flyball.records ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE INDEX records_agent ON flyball.records (agent_id, seq) WHERE agent_id IS NOT NULL;
-- Governance is rare and read by itself; the two kinds that fill a chain would double the cost of the indexes.
-- One walk for each kind, and of each agent's: a list of rare records does not read the others of its chain.
CREATE INDEX records_kind ON flyball.records (kind, seq) WHERE kind NOT IN ('decision.witnessed', 'decision.settled');
CREATE INDEX records_agent_kind ON flyball.records (agent_id, kind, seq)
  WHERE agent_id IS NOT NULL AND kind NOT IN ('decision.witnessed', 'decision.settled');

-- Vacuumed soon after any erasure: until then an erased part is out of reach of SQL, but not yet out of the file.
CREATE TABLE flyball.parts (
  seq bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  salt bytea,
  bytes bytea,
  erased_by bigint,
  PRIMARY KEY (seq, name),
  CHECK ((salt IS NULL) = (erased_by IS NOT NULL) AND (bytes IS NULL) = (erased_by IS NOT NULL))
) WITH (
  autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0,
  toast.autovacuum_vacuum_threshold = 1, toast.autovacuum_vacuum_scale_factor = 0
);
ALTER TABLE flyball.parts ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- A digest of no bytes was forgotten: it was made over a part that is erased. Vacuumed soon after, as parts are.
CREATE TABLE flyball.once (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  digest bytea NOT NULL,
  PRIMARY KEY (scope, key)
) WITH (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0);

-- Roots of complete tiles: level 1 covers 256 records a node, level 2 65,536, and so on. Level 0 is records.hash.
CREATE TABLE flyball.nodes (
  level smallint NOT NULL,
  index bigint NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (level, index)
);

CREATE TABLE flyball.documents (
  collection text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (collection, id)
);

CREATE TABLE flyball.document_keys (
  collection text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  single boolean NOT NULL,
  PRIMARY KEY (collection, key, value, id)
);
CREATE UNIQUE INDEX document_keys_single ON flyball.document_keys (collection, key, value) WHERE single;
CREATE INDEX document_keys_document ON flyball.document_keys (collection, id);

-- What webhooks tell of. Ids are in the order of commits; data is JSON as text.
CREATE TABLE flyball.events (
  id text COLLATE "C" PRIMARY KEY,
  type text COLLATE "C" NOT NULL,
  at_ms bigint NOT NULL,
  seq bigint NOT NULL,
  hash bytea NOT NULL,
  data text NOT NULL,
  owner text COLLATE "C"
);
-- Events of the governance have no owner, and cost nothing here.
CREATE INDEX events_owner ON flyball.events (owner, id) WHERE owner IS NOT NULL;

-- state: 0 owed (and in flight, where `in_flight` has it), 2 succeeded, 3 failed, 4 cancelled. `next_at_ms` is when it was to be tried last, as its row of `pending` has it.
-- Room beside each row for the one that says how it ended: then no index is written.
CREATE TABLE flyball.deliveries (
  id text COLLATE "C" PRIMARY KEY,
  event_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  state smallint NOT NULL,
  attempts integer NOT NULL,
  created_at_ms bigint NOT NULL,
  next_at_ms bigint,
  finished_at_ms bigint,
  UNIQUE (endpoint_id, sequence)
) WITH (fillfactor = 50);
-- A delivery of the commit that caused its event has the time of that commit in its id, as the event has. What was owed once more later is found by this.
CREATE INDEX deliveries_again ON flyball.deliveries (event_id) WHERE substr(id, 5, 9) <> substr(event_id, 5, 9);

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

-- A row is written when the attempt has ended; one that is under way is in `in_flight`. excerpt is a JSON string: it may hold what no text can.
-- What a receiver answered is forgotten when its address is erased. Vacuumed soon after, as parts are.
CREATE TABLE flyball.attempts (
  delivery_id text COLLATE "C" NOT NULL,
  attempt integer NOT NULL,
  started_at_ms bigint NOT NULL,
  ended_at_ms bigint,
  status_code integer,
  error_code text,
  excerpt text NOT NULL,
  PRIMARY KEY (delivery_id, attempt)
) WITH (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1, toast.autovacuum_vacuum_scale_factor = 0);

-- The last sequence of each endpoint that was ever owed anything. Written by commits, under the head's lock.
CREATE TABLE flyball.sequences (endpoint_id text COLLATE "C" PRIMARY KEY, sequence bigint NOT NULL) WITH (fillfactor = 50);

-- When each of them was served last: the number of a claim, and the place in it. Whoever takes from what is pending to an endpoint locks its row; commits that only add wait for nobody.
CREATE TABLE flyball.turns (endpoint_id text COLLATE "C" PRIMARY KEY, turn bigint NOT NULL) WITH (fillfactor = 50);
CREATE SEQUENCE flyball.claim_numbers;

-- What ChangeSets add to without reading it: what quotas have used.
CREATE TABLE flyball.counters (name text COLLATE "C" PRIMARY KEY, value bigint NOT NULL) WITH (fillfactor = 50);

-- Rate limits and permits of a subject, as JSON. After ends_s the row says nothing any more.
CREATE TABLE flyball.limits (subject text COLLATE "C" PRIMARY KEY, ends_s bigint NOT NULL, state text NOT NULL)
  WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);

CREATE TABLE flyball.leases (
  name text COLLATE "C" PRIMARY KEY,
  holder text COLLATE "C" NOT NULL,
  until_ms bigint NOT NULL
);

-- Samples for the planner hold values, and outlive the rows that they were taken from: none is taken of what may be
-- erased.
ALTER TABLE flyball.records ALTER COLUMN bytes SET STATISTICS 0;
ALTER TABLE flyball.parts ALTER COLUMN bytes SET STATISTICS 0, ALTER COLUMN salt SET STATISTICS 0;
ALTER TABLE flyball.once ALTER COLUMN digest SET STATISTICS 0;
ALTER TABLE flyball.documents ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE flyball.document_keys ALTER COLUMN value SET STATISTICS 0;
ALTER TABLE flyball.events ALTER COLUMN data SET STATISTICS 0;
ALTER TABLE flyball.attempts ALTER COLUMN excerpt SET STATISTICS 0;
