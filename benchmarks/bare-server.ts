/**
 * The limit of witnessing over HTTP, as a process of its own: bare `node:http` that parses the JSON and makes the same
 * raw inserts,
 * one transaction for what is waiting. No validation, no canonical form, no hash, no tree; the rows have the sizes of
 * the real ones.
 */
import { createServer, type ServerResponse } from "node:http"
import { DatabaseSync } from "node:sqlite"

const db = new DatabaseSync(process.argv[2]!)
db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA secure_delete = ON;
  PRAGMA temp_store = MEMORY;
CREATE TABLE record (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, agent INTEGER, at_ms INTEGER NOT NULL,
  hash BLOB NOT NULL, bytes BLOB NOT NULL) STRICT;
CREATE INDEX record_agent ON record (agent);
CREATE TABLE part (id INTEGER PRIMARY KEY, name INTEGER NOT NULL, salt BLOB, bytes BLOB, erased_by INTEGER) STRICT;
CREATE TABLE once (scope INTEGER NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, digest BLOB NOT NULL,
  PRIMARY KEY (scope, key)) STRICT, WITHOUT ROWID;
CREATE TABLE tile (level INTEGER NOT NULL, idx INTEGER NOT NULL, hashes BLOB NOT NULL,
  PRIMARY KEY (level, idx)) STRICT;`)
const record = db.prepare("INSERT INTO record VALUES (?, 1, 1, ?, ?, ?)")
const part = db.prepare("INSERT INTO part VALUES (?, ?, ?, ?, NULL)")
const once = db.prepare("INSERT INTO once VALUES (1, ?, ?, ?)")
const tile = db.prepare("INSERT INTO tile VALUES (0, ?, ?)")
const hash = new Uint8Array(32).fill(7)
const tileBytes = new Uint8Array(256 * 32)
/** Size that prev, commitments and the fixed members add to a record. */
const frame = "x".repeat(420)

interface Decision {
  readonly client_ref: string
  readonly args?: unknown
  readonly result?: unknown
}

let seq = 0
let waiting: Array<{ readonly decisions: ReadonlyArray<Decision>; readonly response: ServerResponse }> = []

const flush = (): void => {
  const batch = waiting
  waiting = []
  db.exec("BEGIN IMMEDIATE")
  const answers = batch.map(({ decisions }) =>
    decisions.map((decision) => {
      const { args, result, ...members } = decision
      record.run(seq, Date.now(), hash, Buffer.from(JSON.stringify(members) + frame))
      if (args !== undefined) part.run(seq * 32, 1, hash, Buffer.from(JSON.stringify(args)))
      if (result !== undefined) part.run(seq * 32 + 1, 2, hash, Buffer.from(JSON.stringify(result)))
      once.run(decision.client_ref, seq, hash)
      if (seq % 256 === 255) tile.run(seq >> 8, tileBytes)
      return {
        client_ref: decision.client_ref,
        decision_id: "dec_00000000000000000000000000",
        seq: seq++,
        record_hash: "sha256:0000000000000000000000000000000000000000000000000000000000000000",
        duplicate: false
      }
    })
  )
  db.exec("COMMIT")
  batch.forEach(({ response }, index) => {
    const body = Buffer.from(
      JSON.stringify({ receipts: answers[index], head: { seq: seq - 1, record_hash: "sha256:" } })
    )
    response.writeHead(201, { "content-type": "application/json", "content-length": body.length }).end(body)
  })
}

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Decision & {
      readonly decisions?: ReadonlyArray<Decision>
    }
    if (waiting.push({ decisions: body.decisions ?? [body], response }) === 1) setImmediate(flush)
  })
})
server.listen(0, "127.0.0.1", () =>
  console.log(`ready at http://127.0.0.1:${(server.address() as { port: number }).port}`)
)
process.once("SIGTERM", () => process.exit(0))
