/** The limit of answering over HTTP, as a process of its own: bare `node:http` that parses the body of a POST and answers an agent or a head from memory. */
import { createServer } from "node:http"

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
  request.on("end", () => answer(201, { ...agent, ...JSON.parse(Buffer.concat(chunks).toString("utf8")) }))
})
server.listen(0, "127.0.0.1", () => console.log(`ready at http://127.0.0.1:${(server.address() as { port: number }).port}`))
process.once("SIGTERM", () => process.exit(0))
