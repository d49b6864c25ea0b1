import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Replay } from "../../outward/replay/service.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { Models } from "./service.ts"

describe("models", () => {
  it.effect("are registered once, changed, and described by their records", () =>
    Effect.gen(function* () {
      const models = yield* Models
      const model = yield* models.create(
        { provider: "openai", name: "gpt-5", version: "2026-08-07", price: { input_micro_usd_per_mtok: 1_250_000 } },
        writer
      )
      assert.deepInclude(model, {
        status: "allowed",
        hosting: null,
        price: { input_micro_usd_per_mtok: 1_250_000, output_micro_usd_per_mtok: null }
      })
      assert.deepInclude(
        yield* Effect.flip(models.create({ provider: "openai", name: "gpt-5", version: "2026-08-07" }, writer)),
        { _tag: "ModelTaken", modelId: model.id }
      )
      const other = yield* models.create({ provider: "openai", name: "gpt-5" }, writer)
      const changed = yield* models.update(model.id, { status: "restricted", hosting: "cloud_tenant" }, writer)
      assert.deepStrictEqual(changed, { ...model, status: "restricted", hosting: "cloud_tenant" })
      const free = yield* models.update(model.id, { price: null, hosting: null }, writer)
      assert.deepInclude(free, {
        status: "restricted",
        hosting: null,
        price: { input_micro_usd_per_mtok: null, output_micro_usd_per_mtok: null }
      })
      assert.deepStrictEqual(
        yield* models.list,
        [free, other].sort((a, b) => (a.id < b.id ? -1 : 1))
      )
      for (const id of ["", "mdl_1", `mdl_${"0".repeat(26)}`])
        assert.strictEqual((yield* Effect.flip(models.update(id, {}, writer)))._tag, "ModelNotFound")
      assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("named alike at once are one", () =>
    Effect.gen(function* () {
      const models = yield* Models
      const tags = yield* Effect.all(
        Array.from({ length: 20 }, () =>
          models
            .create({ provider: "openai", name: "gpt-5" }, writer)
            .pipe(Effect.match({ onSuccess: () => "made", onFailure: ({ _tag }) => _tag }))
        ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        tags.filter((tag) => tag !== "ModelTaken"),
        ["made"]
      )
    }).pipe(Effect.provide(governorWorld()))
  )
})
