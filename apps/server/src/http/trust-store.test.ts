/** A trust store that cannot be read is blamed itself: neither the store, nor the card. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { TrustStore, TrustStoreUnavailable } from "@flyball/core"
import { Effect, Layer } from "effect"
import { assert, it } from "vitest"
import { givenServers } from "./testing/given-servers.ts"

const { opened } = givenServers()

it("an unreadable trust store is 503 under its own code, records nothing, and stops nothing else", async () => {
  const world = await opened({
    trust: Layer.succeed(TrustStore, {
      keys: Effect.fail(new TrustStoreUnavailable({ reason: "/srv/trust: it cannot be read (EACCES)" }))
    })
  })
  const id = await world.register("courier")
  const before = await world.size()
  const attach = (json: unknown) => world.send("POST", `/api/v1/agents/${id}/identity`, { token: world.admin, json })
  const got = await attach({
    signed_card: { card: btoa('{"name":"courier"}'), signature: btoa("x".repeat(64)), key_id: "acme" }
  })
  assert.deepStrictEqual(
    [got.status, got.json.code, got.headers.get("retry-after")],
    [503, "trust_store_unavailable", "1"]
  )
  assert.notInclude(got.text, "/srv/trust")
  assert.include(world.log.at(-1)?.problem, "The trust store is unavailable: /srv/trust")
  assert.strictEqual(await world.size(), before)
  assert.strictEqual(
    (await attach({ declared_source: "spiffe", declared_ref: "spiffe://example.org/courier" })).status,
    201
  )
  assert.strictEqual((await world.send("GET", "/healthz")).status, 200)

  const {
    json: { paths, components }
  } = await world.send("GET", "/openapi.json")
  const reported = Object.entries<Record<string, { readonly responses: Record<string, { readonly $ref: string }> }>>(
    paths
  ).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) =>
        JSON.stringify(components.responses[responses["503"]!.$ref.split("/").at(-1)!]).includes(
          "trust_store_unavailable"
        )
      )
      .map(([method]) => `${method} ${path}`)
  )
  assert.deepStrictEqual(reported, ["post /api/v1/agents/{agent_id}/identity"])
})
