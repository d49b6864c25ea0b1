import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Chain } from "./chain.ts"
import { layerOf } from "../storage/choice.ts"
import { memoryStorage } from "../storage/memory/memory.ts"
import { Storage } from "../storage/port.ts"
import { Tenant } from "./tenant.ts"

/** Starts once more over the same store. The tenant asks for a chain only to be started after it. */
const started = (options: { readonly tenantId?: string; readonly readOnly?: boolean }) =>
  Effect.flatMap(Storage, (storage) =>
    Layer.build(
      Tenant.layer(options).pipe(
        Layer.provide([Layer.succeed(Storage, storage), Layer.succeed(Chain, {} as Chain["Service"])])
      )
    ).pipe(
      Effect.map((context) => Context.get(context, Tenant).tenantId),
      Effect.scoped
    )
  )
const store = () => Effect.provide(layerOf(memoryStorage()))

describe("the tenant", () => {
  it.effect("is fixed at the first start", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* started({ tenantId: "acme" }), "acme")
      assert.strictEqual(yield* started({ tenantId: "acme" }), "acme")
      assert.strictEqual(yield* started({}), "acme")
      const refusal = yield* Effect.flip(started({ tenantId: "other" }))
      assert.deepInclude(refusal, { _tag: "TenantRefused", expected: "acme", found: "other" })
    }).pipe(store())
  )

  it.effect("is `default` if none was chosen, and does not change", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* started({}), "default")
      assert.strictEqual((yield* Effect.flip(started({ tenantId: "acme" })))._tag, "TenantRefused")
    }).pipe(store())
  )

  it.effect("is not fixed by a start that only reads", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* started({ readOnly: true }), "default")
      assert.strictEqual(yield* started({ tenantId: "acme" }), "acme")
    }).pipe(store())
  )

  it.effect("is one, however many processes start at once", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.all(
        ["a", "b", "c"].map((tenantId) => Effect.result(started({ tenantId }))),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        answers.filter(({ _tag }) => _tag === "Success"),
        1
      )
    }).pipe(store())
  )
})
