/** Storage of texts that documents leave: reserved, settled, returned by an erasure, and bounded by the plan. */
import { type Governor, memoryStorage, openGovernor, storedBytesOf, unitOwner } from "@flyball/core"
import { layerOf, Storage, type StorageApi, storageChoice } from "@flyball/core/storage"
import { type HttpApi, openHttp } from "@flyball/http"
import { Context, Effect, Layer } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { platform } from "../index.ts"
import { planFailed } from "./plan-end.ts"

let store: StorageApi
let governor: Governor
let api: HttpApi
let key: string
beforeAll(async () => {
  const seen = Layer.tap(layerOf(memoryStorage()), (context) =>
    Effect.sync(() => {
      store = Context.get(context, Storage)
    })
  )
  governor = await openGovernor({
    storage: storageChoice("memory", seen),
    log: () => undefined,
    capabilities: [platform({ documents: {} })]
  })
  api = openHttp(governor)
  key = (await governor.platformKeys.mint({ name: "k", org_unit: "ops", plan: "starter", scopes: ["*"] })).key
})
afterAll(() => governor.close())

const send = async (path: string, body?: string) => {
  const response = await api.fetch(
    new Request(`http://host.example/v1/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "text/plain" },
      ...(body === undefined ? {} : { body })
    })
  )
  return { status: response.status, json: (await response.json()) as any }
}
const RETAIN = "documents/extract?wait=10&retain=true"
const bytes = async (): Promise<number> => Math.round((await send("usage")).json.storage_used_gb * 1e9)

it("counts the text that a document leaves until it is erased, and nothing of one that left none", async () => {
  assert.strictEqual((await send("documents/extract?wait=10", "Total 12.50 EUR")).json.status, "completed")
  assert.strictEqual((await send(RETAIN, " ")).json.status, "failed")
  assert.strictEqual(await bytes(), 0)
  assert.strictEqual((await send(RETAIN, "Total 12.50 EUR")).json.status, "completed")
  const [record] = (await governor.chain.records({ kind: "extraction.completed" })).slice(-1)
  const { text } = await governor.chain.part({ seq: record!.seq, name: "document" })
  const { length } = Buffer.from(text!)
  assert.isAbove(length, 50)
  assert.strictEqual(await bytes(), length)
  await governor.chain.erase({ seq: record!.seq, name: "document", reason: "retention" })
  assert.strictEqual(await bytes(), 0)
})

it("reserves 1 MiB, returns it where the process ended, and is refused beyond the plan", async () => {
  assert.strictEqual((await send("documents/extract?retain=true", "Total 12.50 EUR")).status, 201)
  const stored = { id: "x", version: 1, body: { owner: "o", keptBytes: 1_048_576, quota: null } } as never
  assert.deepStrictEqual(planFailed(stored, "interrupted", 0).change.counts, [{ name: "o:storage", add: -1_048_576 }])
  await Effect.runPromise(
    store.commit({ counts: [{ name: storedBytesOf(unitOwner("ops")), add: 10_000_000_000 - 1_000_000 }] })
  )
  const before = (await send("usage")).json.documents_processed
  const { json, status } = await send(RETAIN, "Total 12.50 EUR")
  assert.deepStrictEqual([status, json.error.code, json.error.limit], [403, "plan_limit_reached", 10])
  assert.strictEqual((await send("documents/extract?wait=10", "Total 12.50 EUR")).status, 201)
  assert.strictEqual((await send("usage")).json.documents_processed, before + 1)
})
