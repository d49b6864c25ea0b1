import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { OutboxTracker } from "./outbox-tracker.ts"
import { makeStorage } from "../storage.ts"
import { openThreads } from "../thread/threads.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-outbox-"))
afterAll(() => rmSync(folder, { recursive: true }))

describe("the outbox in memory", () => {
  it("is known to be empty after a claim that found nothing, until a commit may have added a delivery", () => {
    const tracker = new OutboxTracker()
    assert.isFalse(tracker.isEmpty)
    tracker.foundNothing(tracker.generation())
    assert.isTrue(tracker.isEmpty)
    tracker.mayHaveDeliveries()
    assert.isFalse(tracker.isEmpty)
    tracker.foundNothing(tracker.generation())
    assert.isTrue(tracker.isEmpty)
  })

  it("ignores an empty claim that began before such a commit ended", () => {
    const tracker = new OutboxTracker()
    const calls = tracker.generation()
    tracker.mayHaveDeliveries()
    tracker.foundNothing(calls)
    assert.isFalse(tracker.isEmpty)
  })

  it.effect("skips claims only while no delivery is pending", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const threads = yield* openThreads({ file: join(folder, "outbox.db") })
        const writer = threads.writer!
        let calls = 0
        const send = writer.send.bind(writer) as (...args: ReadonlyArray<unknown>) => void
        Object.assign(writer, {
          send: (request: { readonly op: string }, ...rest: ReadonlyArray<unknown>) => {
            if (request.op === "claim") calls += 1
            send(request, ...rest)
          }
        })
        const storage = yield* makeStorage(threads)
        const claim = storage.outbox.claim({ limit: 10, perEndpoint: 10, leaseMs: 1_000 })
        const tell = storage.commit({ events: [{ type: "agent.registered", data: {} }] })
        /** How many were claimed, and how often the thread was called so far. */
        const claimed = Effect.map(claim, (answer) => [answer.claimed.length, calls])
        yield* storage.commit({
          expectEmpty: true,
          records: [{ kind: "chain.genesis", body: {}, parts: [], agentId: null }]
        })
        assert.deepStrictEqual(yield* claimed, [0, 1])
        yield* tell
        assert.isTrue(storage.outbox.isEmpty?.())
        assert.deepStrictEqual(yield* claimed, [0, 1])
        yield* storage.commit({
          puts: [
            {
              collection: "webhooks",
              id: "whk_1",
              expectedVersion: 0,
              body: {},
              keys: { "on:agent.registered": "yes" }
            }
          ]
        })
        yield* tell
        assert.isFalse(storage.outbox.isEmpty?.())
        const {
          claimed: [one]
        } = yield* claim
        assert.deepStrictEqual([one?.delivery.endpointId, calls], ["whk_1", 2])
        // It is under way: its lease may run out.
        assert.deepStrictEqual(yield* claimed, [0, 3])
        yield* storage.commit({
          moves: [
            {
              id: one!.delivery.id,
              from: { state: "in_flight", attempts: 1 },
              to: { state: "succeeded" },
              ended: { endedAtMs: 1, statusCode: 204, errorCode: null, responseExcerpt: "" }
            }
          ]
        })
        assert.deepStrictEqual(
          [yield* claimed, yield* claimed],
          [
            [0, 4],
            [0, 4]
          ]
        )
      })
    )
  )
})
