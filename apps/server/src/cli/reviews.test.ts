/** `flyball reviews` on SQLite, beside a running server. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, type RunningServer } from "./testing/commands.ts"

let me: Operator
let server: RunningServer
beforeAll(async () => {
  me = operator()
  server = await me.serve()
})
afterAll(() => me.leave())

// oxlint-disable-next-line no-explicit-any
const post = async (path: string, body: object): Promise<any> => {
  const answer = await server.call("POST", `/api/v1/${path}`, body)
  const json = await answer.json()
  assert.isBelow(answer.status, 300, JSON.stringify(json))
  return json
}

describe("flyball reviews", { timeout: 120_000 }, () => {
  it("lists what waits for people, oldest first, and nothing that is over", async () => {
    const none = await me.flyball(["reviews"])
    assert.deepEqual([none.status, none.err, none.out], [0, "", "No review waits for people.\n"])

    const { id: agent } = await post("agents", {
      name: "payer",
      org_unit: "ops",
      owner_name: "Ada",
      owner_email: "ada@example.org"
    })
    const envelope = {
      semantics: "envelope/1",
      signals: { tool: { type: "enum", values: ["pay"], source: "caller" } },
      effects: { pay: "read" },
      rules: [{ id: "payments", outcome: "require_review", when: [] }],
      default: { outcome: "deny" }
    }
    const { id: envelopeId } = await post("bound/envelopes", { name: "payments", agent_id: agent, envelope })
    const ben = await me.flyball(["token", "--role", "governor", "--sub", "ben"])
    const published = await fetch(`${server.url}/api/v1/bound/envelopes/${envelopeId}/publish`, {
      method: "POST",
      headers: { authorization: `Bearer ${ben.out.trim()}`, "content-type": "application/json" },
      body: "{}"
    })
    assert.strictEqual(published.status, 200)
    await post(`agents/${agent}/activate`, {})
    const ids: Array<string> = []
    for (const client_ref of ["1", "2", "3"]) {
      const intent = { agent_id: agent, client_ref, action: "pay", signals: { tool: "pay" }, args: { to: client_ref } }
      ids.push((await post("bound/evaluations", intent)).review_id)
    }
    await post(`bound/reviews/${ids[1]}/withdraw`, {})

    const listed = await me.flyball(["reviews"])
    assert.deepEqual([listed.status, listed.err], [0, ""])
    const lines = listed.out.split("\n")
    assert.strictEqual(lines[0], "2 reviews wait for people, oldest first:")
    assert.strictEqual(lines[1], `${ids[0]}: "pay" of payer (${agent}), by the rule payments`)
    assert.match(lines[2]!, /^  since \d{4}-\S+Z, expires \d{4}-\S+Z$/)
    assert.strictEqual(lines[3], "  approvals: 0 given, needs 1 of role reviewer or above")
    assert.strictEqual(lines[4], `${ids[2]}: "pay" of payer (${agent}), by the rule payments`)

    const json = await me.flyball(["reviews", "--json"])
    assert.deepEqual(
      JSON.parse(json.out).map(({ id }: { readonly id: string }) => id),
      [ids[0], ids[2]]
    )
    assert.strictEqual((await me.flyball(["reviews", "extra"])).status, 2)
  })
})
