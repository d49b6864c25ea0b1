/** `Idempotency-Key` on every POST and PATCH of `/api/v1`: one effect, one answer. Spec: api.md "Conventions". */
import { endpoints, isRepeatable } from "@flyball/contract/http"
import { layerOf, memoryStorage, Storage, storageChoice } from "@flyball/core"
import type { ChangeSet } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { goodRequests } from "./http-requests.ts"
import { type Got, openWorld, type World } from "./http-world.ts"

/** Rows that change nothing, or nothing that they would change twice: no commit of theirs has the key. */
const unclaimed: ReadonlySet<string> = new Set(["breakers.check", "webhooks.recover"])

const commits: Array<ChangeSet> = []
const watched = Layer.effect(
  Storage,
  Effect.map(Storage, (storage) =>
    Storage.of({
      ...storage,
      commit: (change) => Effect.tap(storage.commit(change), () => Effect.sync(() => void commits.push(change)))
    })
  )
).pipe(Layer.provide(layerOf(memoryStorage())))

let world: World
let good: Awaited<ReturnType<typeof goodRequests>>
beforeAll(async () => {
  world = await openWorld({ storage: storageChoice("memory", watched) })
  good = await goodRequests(world)
})
afterAll(() => world.close())

const keysOf = ({ puts = [] }: ChangeSet) => puts.filter(({ collection }) => collection === "idempotency")
/** Names what a commit changes, without what others would change as well. */
const namesOf = ({ puts = [], records = [] }: ChangeSet): ReadonlyArray<string> => {
  const names = [...puts.map(({ collection }) => collection), ...records.map(({ kind }) => kind)]
  return names.some((name) => ["checkpoints", "principal.seen", "kill.expected"].includes(name)) ? [] : names
}
const replayed = ({ headers }: Got) => headers.get("idempotent-replayed")

describe("a key", () => {
  it.each(endpoints.filter(isRepeatable).map((endpoint) => [endpoint.id, endpoint] as const))(
    "makes %s one act with one answer",
    async (id, endpoint) => {
      const { json, path } = await good(endpoint)
      // Somebody who has approved and proposed nothing yet.
      const token = await world.token("admin", "*", `caller of ${id}`)
      const send = (more: { readonly [name: string]: string } = {}) =>
        world.send(endpoint.method, path, {
          token,
          headers: { "idempotency-key": id, ...more },
          ...(json === null ? {} : { json })
        })
      commits.splice(0)
      const first = await send({ "x-request-id": "first" })
      const made = commits.splice(0)
      const again = await send()
      assert.isNull(replayed(first))
      assert.deepStrictEqual([again.status, again.text], [first.status, first.text])
      assert.deepStrictEqual([replayed(again), again.headers.get("original-request-id")], ["true", "first"])
      assert.strictEqual(again.headers.get("etag"), first.headers.get("etag"))
      assert.deepStrictEqual(commits, [], "a repeat commits nothing")
      // One act: its commit carries the key, and others carry nothing of it.
      const effects = made.filter((change) => keysOf(change).length === 0).flatMap(namesOf)
      if (!unclaimed.has(id)) assert.deepStrictEqual(effects, [], "a commit without the key")
      const other = await world.send(endpoint.method, `${path}?x=1`, {
        token,
        headers: { "idempotency-key": id },
        ...(json === null ? {} : { json })
      })
      assert.oneOf(other.json.code, ["idempotency_key_reused", undefined])
    }
  )
})
