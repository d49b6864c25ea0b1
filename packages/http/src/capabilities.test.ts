/** A product that is installed beside the governor: its operations are served, and its services see the governor's. */
import { access, endpoint, json } from "@flyball/contract/http"
import { Agents, type Capability, CommitFeed, defineModule, memoryStorage, openGovernor, Storage } from "@flyball/core"
import { Context, Effect, Layer, Schema } from "effect"
import { assert, it } from "vitest"
import { openHttp } from "./index.ts"

class Notes extends Context.Service<Notes, { readonly count: Effect.Effect<number> }>()("test/Notes") {
  static readonly layer = Layer.effect(
    Notes,
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* Agents
      return Notes.of({
        count: Effect.gen(function* () {
          yield* storage.commit({ puts: [{ collection: "notes", id: "n", expectedVersion: null, body: {} }] })
          return (yield* storage.list("notes")).length
        }).pipe(Effect.orDie)
      })
    })
  )
}

class Woken extends Context.Service<Woken, { readonly times: () => number }>()("test/Woken") {
  static readonly layer = Layer.effect(
    Woken,
    Effect.gen(function* () {
      let times = 0
      yield* (yield* CommitFeed).subscribe(({ events = [] }) => void (times += events.length))
      return Woken.of({ times: () => times })
    })
  )
}

const rows = {
  send: endpoint({
    id: "notes.send",
    method: "POST",
    path: "/api/v1/notes",
    summary: "Commits an event by itself.",
    access: access.read,
    success: json(200, Schema.Struct({ woken: Schema.Int }))
  }),
  count: endpoint({
    id: "notes.count",
    method: "GET",
    path: "/api/v1/notes/{agent_id}",
    summary: "Counts notes.",
    access: access.read,
    success: json(200, Schema.Struct({ count: Schema.Int, waits: Schema.Boolean })),
    params: {
      agent_id: {
        schema: Schema.String,
        plain: "string",
        decode: (text: string) => Schema.decodeUnknownResult(Schema.String)(text) as never,
        example: "x"
      }
    }
  })
}

let isLeft = false
const notes: Capability = {
  name: "notes",
  modules: [
    defineModule({
      name: "notes",
      rows,
      operations: {
        send: () =>
          Storage.use((storage) => storage.commit({ events: [{ type: "key.minted", data: {} }] })).pipe(
            Effect.andThen(Woken.use(({ times }) => Effect.succeed({ woken: times() })))
          ),
        count: (_, { signal }) => {
          signal.addEventListener("abort", () => (isLeft = true))
          return Effect.map(
            Notes.use(({ count }) => count),
            (count) => ({ count, waits: !signal.aborted })
          )
        }
      },
      layer: Layer.merge(Notes.layer, Woken.layer)
    })
  ]
}

it("a capability is served beside the governor's own endpoints, to those whom its rows admit", async () => {
  const governor = await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities: [notes] })
  const ada = { subject: "ada", grants: [{ role: "admin", org_unit: "*" }], name: "Ada" } as const
  const { fetch } = openHttp(governor, {
    authentication: { authenticate: ({ headers }) => (headers.get("x-user") === null ? null : ada) }
  })
  const path = "http://host.example/api/v1/notes/x"
  const answer = await fetch(new Request(path, { headers: { "x-user": "ada" } }))
  assert.deepStrictEqual([answer.status, await answer.json()], [200, { count: 1, waits: true }])
  assert.strictEqual((await fetch(new Request(path))).status, 401)
  assert.strictEqual((await fetch(new Request("http://host.example/status"))).status, 200)
  const sent = await fetch(
    new Request("http://host.example/api/v1/notes", { method: "POST", headers: { "x-user": "ada" } })
  )
  assert.deepStrictEqual(await sent.json(), { woken: 1 }, "what an operation commits is sent at once")
  assert.isFalse(isLeft, "an answer that was read whole aborts nothing")
  await governor.close()
})

it("a governor without it has no such path, and refuses what is no capability", async () => {
  const governor = await openGovernor({ storage: memoryStorage(), log: () => undefined })
  const { fetch } = openHttp(governor)
  assert.strictEqual((await fetch(new Request("http://host.example/api/v1/notes/x"))).status, 404)
  await governor.close()
  const wrong = await openGovernor({ storage: memoryStorage(), capabilities: [{ name: "x" }] as never }).catch(
    (error: unknown) => (error as { readonly code?: string }).code
  )
  assert.strictEqual(wrong, "invalid_option")
})
