/**
 * The limit of answering over HTTP, as a process of its own: bare `node:http` that answers an agent or a head from
 * memory, and for a POST parses the JSON and
 * makes the inserts that an agent takes, one transaction for what is waiting. No validation, no hash, no tree: rows of
 * the same sizes, in the store's own tables and indexes.
 */
import { createServer, type ServerResponse } from "node:http"
import { DatabaseSync } from "node:sqlite"
import { migrations } from "../packages/storage-sql/src/sqlite/migrations.ts"

const db = new DatabaseSync(process.argv[2]!)
db.exec(
  "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA cache_size = " +
    "-65536; PRAGMA temp_store = MEMORY"
)
for (const { sql } of migrations) db.exec(sql)
/** Numbers of words do not change what a row takes; that of the kind is one of those that are indexed. */
const WORD = 17
const KIND = 15
const TILE = 256
const word = db.prepare("INSERT INTO word (id, text) VALUES (?, ?)")
const record = db.prepare(`INSERT INTO record (seq, kind, agent, at_ms, hash, bytes) VALUES (?, ${KIND}, ?, ?, ?, ?)`)
const part = db.prepare(`INSERT INTO part (id, name, salt, bytes) VALUES (?, ${WORD}, ?, ?)`)
const document = db.prepare(`INSERT INTO document (doc, collection, id, version, body) VALUES (?, ${WORD}, ?, 1, ?)`)
const key = db.prepare(`INSERT INTO document_key (collection, name, value, doc, single) VALUES (${WORD}, ?, ?, ?, ?)`)
const event = db.prepare(`INSERT INTO event (n, id, type, at_ms, seq, hash, data) VALUES (?, ?, ${KIND}, ?, ?, ?, ?)`)
const tile = db.prepare("INSERT INTO tile (level, idx, hashes) VALUES (0, ?, ?)")
const hash = new Uint8Array(32).fill(7)
const tileBytes = new Uint8Array(TILE * 32)
/** A record of an agent without its id. */
const frame = "x".repeat(360)

const agent = {
  id: "agt_00000000000000000000000000",
  tenant_id: "default",
  name: "bench",
  description: null,
  owner_name: null,
  owner_email: null,
  org_unit: "bench",
  autonomy_tier: "L0",
  blast_radius: {},
  status: "draft",
  recert_due_at: null,
  decommissioned_at: null,
  created_at: "2026-11-21T00:00:00.000Z",
  identity_verified: false,
  identity_source: null,
  identity_ref: null,
  version: 1,
  purpose: null,
  agent_version: null,
  framework: null,
  model_ids: [],
  risk_class: "unclassified",
  labels: {},
  suspended_reason: null,
  orphaned_since: "2026-11-21T00:00:00.000Z"
}
const head = {
  seq: 1,
  record_hash: `sha256:${"0".repeat(64)}`,
  tree_size: 2,
  root_hash: `sha256:${"0".repeat(64)}`,
  checkpoint: null
}

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

/** Where records begin: numbers before it are words of every store. */
let seq = 100
let waiting: Array<{ readonly input: { readonly name: string }; readonly response: ServerResponse }> = []

const flush = (): void => {
  const batch = waiting
  waiting = []
  const at = Date.now()
  db.exec("BEGIN IMMEDIATE")
  const answers = batch.map(({ input }) => {
    const digits = String(++seq).padStart(26, "0")
    const id = `agt_${digits}`
    const text = JSON.stringify({ ...agent, ...input, id })
    word.run(seq, id)
    record.run(seq, seq, at, hash, Buffer.from(id + frame))
    part.run(seq * 32, hash, Buffer.from(JSON.stringify(input)))
    document.run(seq, id, text)
    key.run(1, input.name, seq, 1)
    key.run(2, "bench", seq, 0)
    event.run(
      seq,
      `evt_${digits}`,
      at,
      seq,
      hash,
      `{"agent_id":"${id}","autonomy_tier":"L0","risk_class":"unclassified",` +
        `"writer":"key_00000000000000000000000000","resource":"/api/v1/agents/${id}"}`
    )
    if (seq % TILE === TILE - 1) tile.run(Math.floor(seq / TILE), tileBytes)
    return Buffer.from(text)
  })
  db.exec("COMMIT")
  batch.forEach(({ response }, index) =>
    response
      .writeHead(201, { "content-type": "application/json", "content-length": answers[index]!.length })
      .end(answers[index])
  )
}
server.listen(0, "127.0.0.1", () =>
  console.log(`ready at http://127.0.0.1:${(server.address() as { port: number }).port}`)
)
process.once("SIGTERM", () => process.exit(0))
