import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Agents } from "../../registry/agents/service.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { KeyRotation } from "../../chain/rotate-key.ts"
import { Erasure } from "../erasure/service.ts"
import { Evaluations } from "../../verdicts/evaluations/service.ts"
import { IngestKeys } from "../../registry/ingest-keys/service.ts"
import { Storage, type StorageApi, type TakenKey } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { systemHost } from "../../foundation/writer.ts"
import { Replay } from "./service.ts"

/**
 * Something of every kind of record that takes an idempotency key, but for a void and a webhook's end: the random
 * histories have those.
 */
const lived = Effect.gen(function* () {
  const agent = yield* registered("Ada's bot")
  const key = yield* IngestKeys.use((keys) => keys.mint({ name: "ci", org_unit: "ops" }, systemHost))
  yield* IngestKeys.use((keys) => keys.revoke(key.id, systemHost))
  const decisions = [1, 2, 3].map((step) => ({
    client_ref: `r${step}`,
    kind: "tool_call" as const,
    action: "pay",
    status: "ok" as const,
    step,
    args: { amount: step, é: ["\u{1F600}", null] },
    labels: { tier: "gold" },
    usage: { output_tokens: 1, input_tokens: 2 },
    model: "m/1"
  }))
  const { receipts } = yield* Capture.use((capture) => capture.witness(agent.id, decisions, systemHost))
  yield* Capture.use((capture) =>
    capture.settle(receipts[0]!.decision_id, { status: "ok", result: { done: true }, latency_ms: 12 }, systemHost)
  )
  yield* Evaluations.use((evaluations) =>
    evaluations.evaluate(
      {
        agent_id: agent.id,
        client_ref: "ask",
        signals: { tool: "pay", amount: 7 },
        action: "pay_out",
        action_digest: `sha256:${"ab".repeat(32)}`,
        run_id: "run-1"
      },
      systemHost
    )
  )
  yield* KeyRotation.use(({ rotate }) => rotate)
  return { agent, receipts }
})

const reported = Effect.map(
  Replay.use(({ check }) => check),
  ({ differences, idempotencyKeys }) => ({
    idempotencyKeys,
    differences: differences.map(({ collection, expected, found, id, path }) => [collection, id, path, expected, found])
  })
)

/** Replay over a store whose table of keys is `alter`ed. */
const checkedWith = (alter: (row: TakenKey) => ReadonlyArray<TakenKey>, more: ReadonlyArray<TakenKey> = []) =>
  Effect.gen(function* () {
    const real = yield* Storage
    const all: Array<TakenKey> = []
    for (;;) {
      const page = yield* real.idempotencyKeys(all.at(-1) ?? null, 2)
      all.push(...page)
      if (page.length < 2) break
    }
    const rows = [...all.flatMap(alter), ...more]
    const altered: StorageApi = {
      ...real,
      once: (scope, keys) => Effect.succeed(rows.filter((row) => row.scope === scope && keys.includes(row.key))),
      idempotencyKeys: (after, limit) =>
        Effect.sync(() => {
          const from =
            after === null ? 0 : rows.findIndex((row) => row.scope === after.scope && row.key === after.key) + 1
          return rows.slice(from, from + limit)
        })
    }
    return yield* reported.pipe(
      Effect.provide(Layer.fresh(Replay.layer).pipe(Layer.provide(Layer.succeed(Storage, Storage.of(altered)))))
    )
  })
const unchanged = (row: TakenKey): ReadonlyArray<TakenKey> => [row]

describe("the check of the idempotency table", () => {
  it.effect("finds nothing where every record has its key, and every key its record", () =>
    Effect.gen(function* () {
      yield* lived
      assert.deepStrictEqual(yield* reported, { idempotencyKeys: 7, differences: [] })
      assert.deepStrictEqual(yield* checkedWith(unchanged), { idempotencyKeys: 7, differences: [] })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds each key that is gone: what comes again would be recorded twice", () =>
    Effect.gen(function* () {
      yield* lived
      const storage = yield* Storage
      const taken = yield* storage.idempotencyKeys(null, 100)
      for (const one of taken) {
        const { differences } = yield* checkedWith((row) => (row.seq === one.seq ? [] : [row]))
        assert.deepStrictEqual(differences, [["once", String(one.seq), "", "an idempotency key", "no row"]])
      }
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds a digest of something else, for every kind, and one that was forgotten without an erasure", () =>
    Effect.gen(function* () {
      yield* lived
      const taken = yield* Storage.use((storage) => storage.idempotencyKeys(null, 100))
      assert.lengthOf(taken, 7)
      for (const one of taken) {
        for (const [digest, found] of [
          ["0123456789abcdef".repeat(4), "another digest"],
          [null, "none"]
        ] as const) {
          const { differences } = yield* checkedWith((row) => [row.seq === one.seq ? { ...row, digest } : row])
          assert.deepStrictEqual(differences, [
            ["once", String(one.seq), "/digest", "the digest of the request", found]
          ])
        }
      }
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds a key that names another record, or one that does not exist", () =>
    Effect.gen(function* () {
      const { receipts } = yield* lived
      const [seq] = receipts.map((receipt) => receipt.seq)
      for (const other of [seq! + 1, 900]) {
        const { differences } = yield* checkedWith((row) => [row.seq === seq ? { ...row, seq: other } : row])
        assert.deepStrictEqual(differences, [["once", String(seq), "/seq", String(seq), String(other)]])
      }
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds a key that no record took, and shows nothing of it", () =>
    Effect.gen(function* () {
      const { agent, receipts } = yield* lived
      for (const seq of [receipts[0]!.seq, 0, 900]) {
        const { differences } = yield* checkedWith(unchanged, [
          { scope: agent.id, key: "Ada\u009b", seq, digest: "0".repeat(64) }
        ])
        assert.deepStrictEqual(differences, [["once", String(seq), "", "no row of this key", "a row"]])
      }
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("agrees with what erasing leaves, and finds a digest that outlives what it was made over", () =>
    Effect.gen(function* () {
      const { receipts } = yield* lived
      const { seq } = receipts[1]!
      const digests = yield* Storage.use((storage) => storage.idempotencyKeys(null, 100))
      yield* Erasure.use((erasure) => erasure.erase({ seq, name: "labels", reason: "subject_request" }, systemHost))
      assert.deepStrictEqual((yield* reported).differences, [])
      const { digest } = digests.find((row) => row.seq === seq)!
      const { differences } = yield* checkedWith((row) => [row.seq === seq ? { ...row, digest } : row])
      assert.deepStrictEqual(differences, [
        ["once", String(seq), "/digest", "none: a part of the record was erased", "a digest"]
      ])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("says what was compared with nothing", () =>
    Effect.gen(function* () {
      yield* Agents
      const { uncovered } = yield* Replay.use(({ check }) => check)
      assert.include(uncovered.join("; "), "events and deliveries")
    }).pipe(Effect.provide(governorWorld()))
  )
})
