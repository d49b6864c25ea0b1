/**
 * The schema of a SQLite store, as numbered steps.
 *
 * Steps are never edited once released: until the first release there is one, and a change edits it. Sealed bytes are
 * never migrated. No older process can write meanwhile: a file has one writer.
 */

/** Marks the file as ours (`PRAGMA application_id`): "Flyb". */
export const applicationId = 0x466c7962

/** One schema change: brings a store from schema `id - 1` to `id` (`PRAGMA user_version`). */
export interface SqliteMigration {
  readonly id: number
  readonly name: string
  readonly sql: string
}

/** All migrations that this version knows, by id ascending from 1 without gaps. */
export const migrations: ReadonlyArray<SqliteMigration> = [
  {
    id: 1,
    name: "store",
    sql: `
-- Texts that repeat: kinds, agents, scopes, collections, names of parts. 1 and 2 are the kinds that fill a chain.
CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO word (id, text) VALUES (1, 'decision.witnessed'), (2, 'decision.settled');

-- The chain. Small columns first, so that a filter never walks through the bytes.
CREATE TABLE record (
  seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, agent INTEGER, at_ms INTEGER NOT NULL, hash BLOB NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE INDEX record_agent ON record (agent) WHERE agent IS NOT NULL;
-- One walk for each kind, and of each agent's: a list of rare records does not read the others of its chain.
CREATE INDEX record_kind ON record (kind) WHERE kind > 2;
CREATE INDEX record_agent_kind ON record (agent, kind) WHERE agent IS NOT NULL AND kind > 2;

-- id = seq * 32 + position. Erasing sets salt and bytes to NULL and names the erasing record.
CREATE TABLE part (id INTEGER PRIMARY KEY, name INTEGER NOT NULL, salt BLOB, bytes BLOB, erased_by INTEGER) STRICT;

-- A digest of no bytes was forgotten: it was made over a part that is erased.
CREATE TABLE once (
  scope INTEGER NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

-- Hashes of tree nodes, 256 to a tile. Level 0 tiles are written when full (the open one is in record.hash); tiles
-- above grow by one hash at a time.
CREATE TABLE tile (level INTEGER NOT NULL, idx INTEGER NOT NULL, hashes BLOB NOT NULL, PRIMARY KEY (level, idx)) STRICT;

CREATE TABLE document (
  doc INTEGER PRIMARY KEY, collection INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL,
  UNIQUE (collection, id)
) STRICT;
-- single = 1: the collection holds this value once.
CREATE TABLE document_key (
  collection INTEGER NOT NULL, name INTEGER NOT NULL, value TEXT NOT NULL, doc INTEGER NOT NULL,
  single INTEGER NOT NULL, PRIMARY KEY (collection, name, value, doc)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX document_key_single ON document_key (collection, name, value) WHERE single = 1;
CREATE INDEX document_key_doc ON document_key (doc);

-- What webhooks tell of. Ids are in the order of commits; data is JSON as text.
CREATE TABLE event (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, type INTEGER NOT NULL, at_ms INTEGER NOT NULL, seq INTEGER NOT NULL,
  hash BLOB NOT NULL, data TEXT NOT NULL, owner INTEGER
) STRICT;
-- Events of the governance have no owner, and cost nothing here.
CREATE INDEX event_owner ON event (owner, id) WHERE owner IS NOT NULL;

-- state: 0 pending, 1 in flight, 2 succeeded, 3 failed, 4 cancelled. Finished ones are in no index by time:
-- a claim costs the same however many there are. One writer claims and settles, and updates a delivery in its place.
CREATE TABLE delivery (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, event INTEGER NOT NULL, endpoint INTEGER NOT NULL,
  sequence INTEGER NOT NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL, next_at_ms INTEGER, lease_until_ms INTEGER, finished_at_ms INTEGER,
  UNIQUE (endpoint, sequence)
) STRICT;
-- In the order in which it is taken: that which is due longest first, be it a first attempt or a retry.
CREATE INDEX delivery_pending ON delivery (endpoint, next_at_ms, sequence) WHERE state = 0;
CREATE INDEX delivery_due ON delivery (next_at_ms) WHERE state = 0;
CREATE INDEX delivery_in_flight ON delivery (endpoint) WHERE state = 1;
CREATE INDEX delivery_leases ON delivery (lease_until_ms) WHERE state = 1;
-- Who is owed an event, and whether anything still refers to it. Written once for each delivery, at the right edge.
CREATE INDEX delivery_event ON delivery (event);

-- A row is written when it is claimed. excerpt is a JSON string: it may hold what no text can.
CREATE TABLE attempt (
  delivery INTEGER NOT NULL, attempt INTEGER NOT NULL, started_at_ms INTEGER NOT NULL, ended_at_ms INTEGER,
  status_code INTEGER, error_code TEXT, excerpt TEXT NOT NULL,
  PRIMARY KEY (delivery, attempt)
) STRICT, WITHOUT ROWID;

-- One row for each endpoint that was ever owed anything: its last sequence, and when it was served last.
CREATE TABLE lane (endpoint INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, turn INTEGER NOT NULL) STRICT;

-- What ChangeSets add to without reading it: what quotas have used.
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- Rate limits and permits of a subject, as JSON. After ends_s the row says nothing any more.
CREATE TABLE limit_row (subject TEXT PRIMARY KEY, ends_s INTEGER NOT NULL, state TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE lease (name TEXT PRIMARY KEY, holder TEXT NOT NULL, until_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`
  }
]
