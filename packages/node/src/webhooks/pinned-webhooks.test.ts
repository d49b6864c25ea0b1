import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { memoryStorage, openGovernor } from "@flyball/core"
import { Webhook } from "standardwebhooks"
import { assert, describe, it } from "vitest"
import { pinnedWebhooks } from "./pinned-webhooks.ts"

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}

describe("webhooks of a host that knows no Effect", () => {
  it("tell a receiver what happened, and a library of somebody else's verifies it", async () => {
    const received = Promise.withResolvers<{ readonly headers: IncomingMessage["headers"]; readonly body: string }>()
    const receiver = createServer(async (request, response) => {
      received.resolve({ headers: request.headers, body: await bodyOf(request) })
      response.end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
    const { port } = receiver.address() as AddressInfo
    try {
      await using governor = await openGovernor({ storage: memoryStorage(), webhooks: pinnedWebhooks({ egressAllow: ["127.0.0.1"], allowHttp: true }) })
      const { secret } = await governor.webhooks.create({ url: `http://127.0.0.1:${port}/hook`, events: ["agent.registered"] })
      const { agent } = await governor.agents.register({ name: "refunds", org_unit: "payments" })
      const { body, headers } = await received.promise
      const event = new Webhook(secret).verify(body, headers as Record<string, string>) as { readonly type: string; readonly data: { readonly agent_id: string } }
      assert.deepEqual([event.type, event.data.agent_id], ["agent.registered", agent.id])
    } finally {
      receiver.close()
    }
  })
  it("do not open with an allow list that cannot be read", async () => {
    const opened = openGovernor({ storage: memoryStorage(), webhooks: pinnedWebhooks({ egressAllow: ["not an address"] }) })
    await opened.then(() => assert.fail("it opened"), (error: unknown) => assert.include(String(error), "not an address"))
  })
})
