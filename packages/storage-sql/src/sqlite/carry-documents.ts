/** Carries documents, counters and where the sequences of endpoints stand from one SQLite store into a new one. */
import { SEQUENCES_OF_A_CHAIN, WEBHOOKS } from "@flyball/core/storage"
import { openForWriting } from "./open-database.ts"

/**
 * Makes the file `fresh` with the counters of `old` and its documents but those of the collections in `leave`:
 * versions, bodies and look-up keys as they are.
 *
 * Sequences continue behind all that the old chain can have given, also to an endpoint that was owed nothing yet when
 * the copy was made. Decision 0010. `old` is a name that SQLite opens without taking a lock.
 */
export const carryDocuments = (
  old: string,
  fresh: string,
  leave: ReadonlyArray<string>,
  busyTimeoutMs: number
): void => {
  const { close, db } = openForWriting(fresh, busyTimeoutMs)
  try {
    db.prepare("ATTACH ? AS old").run(old)
    db.exec("BEGIN IMMEDIATE")
    for (const statement of statements(leave.length)) db.prepare(statement).run(...leave)
    db.exec(`INSERT OR IGNORE INTO main.word (text) SELECT endpoint FROM (${endpoints})`)
    db.exec(`INSERT INTO main.lane (endpoint, sequence, turn)
      SELECT n.id, (max(e.sequence) / ${SEQUENCES_OF_A_CHAIN} + 1) * ${SEQUENCES_OF_A_CHAIN}, 0 FROM (${endpoints}) e
      JOIN main.word n ON n.text = e.endpoint GROUP BY n.id`)
    db.exec("INSERT INTO main.counter (name, value) SELECT name, value FROM old.counter")
    db.exec("COMMIT; DETACH old")
  } finally {
    close()
  }
}

/** Every endpoint, and the last sequence that it was given. */
const endpoints = `SELECT w.text AS endpoint, l.sequence FROM old.lane l JOIN old.word w ON w.id = l.endpoint
  UNION ALL SELECT d.id, 0 FROM old.document d JOIN old.word c ON c.id = d.collection WHERE c.text = '${WEBHOOKS}'`

/** The number in the new store of a word in the old one. */
const word = (old: string): string =>
  `(SELECT n.id FROM main.word n JOIN old.word o ON o.text = n.text WHERE o.id = ${old})`

/**
 * Words are numbered again: the old table is mostly kinds and agents of records that stay behind. Documents keep their
 * number, which their keys refer to.
 */
const statements = (leaving: number): ReadonlyArray<string> => {
  const carried =
    "SELECT d.doc FROM old.document d JOIN old.word c ON c.id = d.collection WHERE c.text NOT IN " +
    `(${Array.from({ length: leaving }, () => "?").join(", ")})`
  return [
    "INSERT OR IGNORE INTO main.word (text) SELECT text FROM old.word WHERE id IN (SELECT collection FROM " +
      `old.document WHERE doc IN (${carried}))`,
    "INSERT OR IGNORE INTO main.word (text) SELECT text FROM old.word WHERE id IN (SELECT name FROM " +
      `old.document_key WHERE doc IN (${carried}))`,
    `INSERT INTO main.document (doc, collection, id, version, body) SELECT doc, ${word("collection")}, id, ` +
      `version, body FROM old.document WHERE doc IN (${carried})`,
    `INSERT INTO main.document_key (collection, name, value, doc, single)
      SELECT ${word("collection")}, ${word("name")}, value, doc, single
     FROM old.document_key WHERE doc IN (${carried})`
  ]
}
