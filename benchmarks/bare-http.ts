/**
 * The limit of answering over HTTP, as a process of its own: bare `node:http` that answers an agent or a head from memory, and for a POST parses the JSON and
 * makes the inserts that an agent takes (document, look-up keys, record, part), one transaction for what is waiting. No validation, no hash, no tree.
 */
import { createServer, type ServerResponse } from "node:http"
import { DatabaseSync } from "node:sqlite"

const db = new DatabaseSync(process.argv[2]!)
db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
CREATE TABLE document (collection INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (collection, id)) STRICT, WITHOUT ROWID;
CREATE TABLE key (collection INTEGER NOT NULL, name INTEGER NOT NULL, value TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (collection, name, value, id)) STRICT, WITHOUT ROWID;
CREATE TABLE record (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, agent INTEGER, at_ms INTEGER NOT NULL, hash BLOB NOT NULL, bytes BLOB NOT NULL) STRICT;
CREATE TABLE part (id INTEGER PRIMARY KEY, name INTEGER NOT NULL, salt BLOB, bytes BLOB) STRICT;`)
const document = db.prepare("INSERT INTO document VALUES (1, ?, 1, ?)")
const key = db.prepare("INSERT INTO key VALUES (1, ?, ?, ?)")
const record = db.prepare("INSERT INTO record VALUES (?, 1, 1, ?, ?, ?)")
const part = db.prepare("INSERT INTO part VALUES (?, 1, ?, ?)")
const hash = new Uint8Array(32).fill(7)
/** A record of an agent without what it says. */
const frame = Buffer.from("x".repeat(360))

const agent = {
  id: "agt_00000000000000000000000000", tenant_id: "default", name: "bench", description: null, owner_name: null, owner_email: null, org_unit: "bench", autonomy_tier: "L0", blast_radius: {}, status: "draft",
  recert_due_at: null, decommissioned_at: null, created_at: "2026-11-21T00:00:00.000Z", identity_verified: false, identity_source: null, identity_ref: null, version: 1, purpose: null, agent_version: null,
  framework: null, model_ids: [], risk_class: "unclassified", labels: {}, suspended_reason: null, orphaned_since: "2026-11-21T00:00:00.000Z"
}
const head = { seq: 1, record_hash: `sha256:${"0".repeat(64)}`, tree_size: 2, root_hash: `sha256:${"0".repeat(64)}`, checkpoint: null }

const server = createServer((request, response) => {
  const answer = (status: number, value: unknown): void => {
    const body = Buffer.from(JSON.stringify(value))
    response.writeHead(status, { "content-type": "application/json", "content-length": body.length }).end(body)
  }
  if (request.method === "GET") return answer(200, request.url === "/head" ? head : agent)
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const input = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { readonly name: string }
    if (waiting.push({ input, response }) === 1) setImmediate(flush)
  })
})

let seq = 0
let waiting: Array<{ readonly input: { readonly name: string }; readonly response: ServerResponse }> = []

const flush = (): void => {
  const batch = waiting
  waiting = []
  db.exec("BEGIN IMMEDIATE")
  const answers = batch.map(({ input }) => {
    const made = { ...agent, ...input, id: `agt_${String(++seq).padStart(26, "0")}` }
    const text = JSON.stringify(made)
    document.run(made.id, text)
    key.run(1, input.name, made.id)
    key.run(2, "bench", made.id)
    record.run(seq, Date.now(), hash, frame)
    part.run(seq, hash, Buffer.from(JSON.stringify(input)))
    return Buffer.from(text)
  })
  db.exec("COMMIT")
  batch.forEach(({ response }, index) => response.writeHead(201, { "content-type": "application/json", "content-length": answers[index]!.length }).end(answers[index]))
}
server.listen(0, "127.0.0.1", () => console.log(`ready at http://127.0.0.1:${(server.address() as { port: number }).port}`))
process.once("SIGTERM", () => process.exit(0))
