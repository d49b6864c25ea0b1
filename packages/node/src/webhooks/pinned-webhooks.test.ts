import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { memoryStorage, openGovernor } from "@flyball/core"
import { Webhook } from "standardwebhooks"
import { assert, describe, it } from "vitest"
import { pinnedWebhooks, type PinnedWebhooksOptions } from "./pinned-webhooks.ts"

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
      await using governor = await openGovernor({
        storage: memoryStorage(),
        webhooks: pinnedWebhooks({ egressAllow: ["127.0.0.1"], allowHttp: true })
      })
      const { secret } = await governor.webhooks.create({
        url: `http://127.0.0.1:${port}/hook`,
        events: ["agent.registered"]
      })
      const { agent } = await governor.agents.register({ name: "refunds", org_unit: "payments" })
      const { body, headers } = await received.promise
      const event = new Webhook(secret).verify(body, headers as Record<string, string>) as {
        readonly type: string
        readonly data: { readonly agent_id: string }
      }
      assert.deepEqual([event.type, event.data.agent_id], ["agent.registered", agent.id])
    } finally {
      receiver.close()
    }
  })
  it.each([
    [null, "egress_invalid", /the options are an object, not null/],
    [[], "egress_invalid", /the options are an object, not an object \(Array\)/],
    [{ ports: "80" }, "egress_invalid", /ports is a list of whole numbers such as \[443, 8443\], not "80"/],
    [{ ports: 80 }, "egress_invalid", /ports is a list .* not 80/],
    [{ ports: null }, "egress_invalid", /ports is a list .* not null/],
    [{ ports: [443, "80"] }, "egress_invalid", /a port is a whole number from 1 to 65535, and "80" is named/],
    [{ ports: [443, undefined] }, "egress_invalid", /and undefined is named/],
    [{ egressAllow: "localhost" }, "egress_invalid", /egressAllow is a list of strings such as .* not "localhost"/],
    [{ egressAllow: ["a.example", 7] }, "egress_invalid", /egressAllow is a list of strings .* not a list with 7/],
    [{ allowHttp: "false" }, "egress_invalid", /allowHttp is true or false, not "false"/],
    [{ ca: 7 }, "egress_invalid", /ca is certificates in PEM as one string, not 7/],
    [{ resolve: "dns" }, "egress_invalid", /resolve is a function/],
    [{ secrets: {} }, "keys_unreadable", /secretBox: dir is a path, .* not undefined/],
    [{ secrets: "secrets.key" }, "keys_unreadable", /secretBox: it takes an object/],
    [
      { settings: 5 },
      "webhook_settings_invalid",
      /The setting settings of webhooks cannot be used: an object is expected, not 5/
    ],
    [{ settings: "literal" }, "webhook_settings_invalid", /an object is expected, not "literal"/],
    [{ settings: null }, "webhook_settings_invalid", /an object is expected, not null/],
    [{ settings: [] }, "webhook_settings_invalid", /an object is expected, not an object \(Array\)/],
    [
      { settings: { keepMS: 1 } },
      "webhook_settings_invalid",
      /The setting keepMS .* there is none of this name; there are .*keepMs/
    ],
    [{ mail: null }, "mail_invalid", /an object with url and from/],
    [{ mail: { url: "smtp://h" } }, "mail_invalid", /from is expected to be a string/]
  ])("do not open with %j, which is said in a sentence", async (options, code, why) => {
    const opened = openGovernor({
      storage: memoryStorage(),
      webhooks: pinnedWebhooks(options as unknown as PinnedWebhooksOptions)
    })
    await opened.then(
      () => assert.fail("it opened"),
      (error: unknown) => {
        assert.propertyVal(error, "code", code)
        assert.match(String(error), why)
      }
    )
  })
  it("do not open with an allow list that cannot be read", async () => {
    const opened = openGovernor({
      storage: memoryStorage(),
      webhooks: pinnedWebhooks({ egressAllow: ["not an address"] })
    })
    await opened.then(
      () => assert.fail("it opened"),
      (error: unknown) => assert.include(String(error), "not an address")
    )
  })
})
