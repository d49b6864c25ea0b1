import { assert, describe, it } from "@effect/vitest"
import { toHex, utf8 } from "@flyball/evidence"
import { seededEntropy, seededSource, storageCases } from "@flyball/testkit"
import { Effect, Layer } from "effect"
import { layerOf } from "../choice.ts"
import { memoryStorage } from "./memory.ts"
import type { RecordDraft } from "../port.ts"
import { Storage } from "../port.ts"

const genesis: RecordDraft = {
  kind: "chain.genesis",
  body: { hash: "sha256-rfc6962", origin: "flyball.test/memory", vkeys: [] },
  parts: [],
  agentId: null
}

const withPart = (key: string): RecordDraft => ({
  kind: "decision.witnessed",
  body: {},
  parts: [{ name: "args", bytes: utf8(key) }],
  agentId: null,
  once: { scope: "agt_1", key, digest: "a".repeat(64) }
})

describe("memory storage", () => {
  for (const { name, run } of storageCases) it.effect(name, () => Effect.provide(run, layerOf(memoryStorage())))

  it.effect("is empty each time it is opened", () =>
    Effect.gen(function* () {
      const storage = memoryStorage()
      const open = Effect.flatMap(Storage, (opened) =>
        Effect.andThen(opened.commit({ expectEmpty: true, records: [genesis] }), opened.head)
      )
      assert.strictEqual((yield* Effect.provide(open, layerOf(storage)))?.seq, 0)
      assert.strictEqual((yield* Effect.provide(open, layerOf(storage)))?.seq, 0)
    })
  )

  it.effect("draws salts for duplicates too, so that equal seeds give equal bytes on every store", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* storage.commit({ expectEmpty: true, records: [genesis] })
      yield* storage.commit({ records: [withPart("k1")] })
      yield* storage.commit({ records: [withPart("k1"), withPart("k2"), withPart("k2"), withPart("k3")] })
      const drawn = seededSource(1)
      const salts = Array.from({ length: 5 }, () => toHex(drawn.bytes(32)))
      assert.deepEqual(
        (yield* storage.parts([1, 2, 3])).map(({ salt }) => toHex(salt!)),
        [salts[0], salts[2], salts[4]]
      )
    }).pipe(Effect.provide(Layer.provide(layerOf(memoryStorage()), seededEntropy(1))))
  )
})
