/** The answers when the store fails or the server is wrong, and what of the fault they contain. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { layerOf, memoryStorage, Storage, storageChoice, StorageCorrupt, StorageUnavailable } from "@flyball/core"
import { Context, Deferred, Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { givenServers } from "./testing/given-servers.ts"

const { beside, opened, withHead } = givenServers()

describe("faults and defects", () => {
  it("a store that cannot be reached is 503, and the reason stays in the log", async () => {
    const { get, log } = await withHead(
      await opened(),
      Effect.fail(new StorageUnavailable({ reason: "db.internal:5432 refused", wrote: "no" }))
    )
    const got = await get("/api/v1/chain/head")
    const body = await got.text()
    assert.deepStrictEqual(
      [got.status, JSON.parse(body).code, got.headers.get("retry-after")],
      [503, "storage_unavailable", "1"]
    )
    assert.notInclude(body, "db.internal")
    assert.include(log[0]!.problem, "db.internal")
  })

  it("a store that is corrupt is 503 too, with its own code", async () => {
    const { get } = await withHead(await opened(), Effect.fail(new StorageCorrupt({ reason: "row 7" })))
    const got = await get("/api/v1/chain/head")
    assert.deepStrictEqual(
      [got.status, (await got.json()).code, got.headers.get("retry-after")],
      [503, "storage_corrupt", null]
    )
  })

  it("a defect is 500 with the request's id and nothing else", async () => {
    const { get, log } = await withHead(await opened(), Effect.die(new Error("secret internals")))
    const got = await get("/api/v1/chain/head")
    const body = await got.json()
    const id = got.headers.get("x-request-id")!
    assert.deepStrictEqual(
      [got.status, body],
      [
        500,
        {
          detail: `The server failed to answer this request. Its log has the cause under this request id: ${id}.`,
          code: "internal_error"
        }
      ]
    )
    assert.include(log[0]!.problem, "secret internals")
    assert.strictEqual(log[0]!.requestId, id)
  })

  it("healthz is 503 when the store fails, and status does not ask it", async () => {
    const world = await opened()
    const { get } = await beside(world, (context) =>
      Context.add(context, Storage, {
        ...Context.get(context, Storage),
        head: Effect.fail(new StorageUnavailable({ reason: "gone", wrote: "no" }))
      })
    )
    assert.strictEqual((await get("/healthz")).status, 503)
    assert.strictEqual((await get("/status")).status, 200)
  })

  it("healthz is 503 within its time although the question to a silent store cannot be given up", async () => {
    const world = await opened()
    const given = Deferred.makeUnsafe<never, StorageUnavailable>()
    const { get } = await beside(world, (context) =>
      Context.add(context, Storage, {
        ...Context.get(context, Storage),
        head: Effect.uninterruptible(Deferred.await(given))
      })
    )
    assert.strictEqual((await get("/healthz")).status, 503)
    Deferred.doneUnsafe(given, Effect.fail(new StorageUnavailable({ reason: "late", wrote: "no" })))
  })

  it("healthz is 503 while the store takes no writes, though it is read, and 200 once one was taken", async () => {
    let full = false
    const disk = storageChoice(
      "memory",
      Layer.effect(
        Storage,
        Effect.map(Storage, (storage) =>
          Storage.of({
            ...storage,
            commit: (change) =>
              full
                ? Effect.fail(new StorageUnavailable({ reason: "the disk is full", wrote: "no" }))
                : storage.commit(change)
          })
        )
      ).pipe(Layer.provide(layerOf(memoryStorage())))
    )
    const { key, send } = await opened({ storage: disk })
    const register = async (name: string): Promise<number> =>
      (await send("POST", "/api/v1/agents", { token: key, json: { name } })).status
    full = true
    assert.deepStrictEqual(
      [await register("a"), (await send("GET", "/api/v1/agents", { token: key })).status],
      [503, 200]
    )
    const health = await send("GET", "/healthz")
    assert.deepStrictEqual(
      [health.status, health.json.code, health.headers.get("retry-after")],
      [503, "not_writing", "5"]
    )
    full = false
    assert.deepStrictEqual([await register("a"), (await send("GET", "/healthz")).status], [201, 200])
  })
})
