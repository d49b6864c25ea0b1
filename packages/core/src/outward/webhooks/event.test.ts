import { assert, describe, it } from "vitest"
import { event } from "../../storage/event.ts"

const agent_id = `agt_${"0".repeat(26)}`

describe("an event", () => {
  it("links to its subject", () => {
    assert.deepStrictEqual(event("agent.owner_transferred", { agent_id, writer: "system:host" }), {
      type: "agent.owner_transferred",
      data: { agent_id, writer: "system:host", resource: `/api/v1/agents/${agent_id}` }
    })
    assert.strictEqual(
      event("key.revoked", { key_id: `key_${"0".repeat(26)}`, kind: "ingest", writer: "system:host" }).data["resource"],
      "/api/v1/admin/ingest-keys"
    )
  })

  it("does not compile with a type, a member or a value that the catalogue does not have", () => {
    // @ts-expect-error: no such type
    assert.throws(() => event("agent.promoted", { agent_id }))
    // @ts-expect-error: a member is missing
    event("agent.owner_transferred", { agent_id })
    // @ts-expect-error: a member too many, which is a person's name
    event("agent.owner_transferred", { agent_id, writer: "system:host", owner_name: "Ada" })
    // @ts-expect-error: a word that is not in the list
    event("agent.suspended", { agent_id, reason: "paid twice", writer: "system:host" })
    // @ts-expect-error: the data of another event
    event("key.revoked", { agent_id, writer: "system:host" })
  })
})
