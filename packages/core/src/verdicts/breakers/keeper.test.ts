/** Windows that are read on after a fault in the middle of a page. */
import { assert, it } from "@effect/vitest"
import { KILL_ACTIVATIONS } from "@flyball/rules"
import { Effect } from "effect"
import { systemHost } from "../../foundation/writer.ts"
import { StorageUnavailable } from "../../storage/faults.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { Capture } from "../capture/service.ts"
import { ann, governedAgent } from "../evaluations/testing/refunds.ts"
import { recordExpected } from "../kill/expected.ts"
import { Kill } from "../kill/service.ts"
import { breakerKeeper } from "./keeper.ts"
import { Breakers } from "./service.ts"

it.effect("windows hold each record once, where reading a page failed behind some of its records", () =>
  Effect.gen(function* () {
    const { agentId } = yield* governedAgent()
    const witness = (...statuses: ReadonlyArray<"error" | "ok">) =>
      Capture.use((capture) =>
        capture.witness(
          agentId,
          statuses.map((status, n) => ({
            client_ref: `${statuses.length}-${n}`,
            kind: "tool_call" as const,
            action: "pay",
            status,
            instance_id: "one"
          })),
          systemHost
        )
      )
    const { id } = yield* Breakers.use((breakers) =>
      breakers.arm(
        agentId,
        {
          name: "errors",
          metric: "error_rate",
          params: { window_ms: 3_600_000, min_samples: 1, threshold_bp: 10_000 },
          mode: "warn",
          enabled: true
        },
        ann
      )
    )
    yield* witness("ok")
    const storage = yield* Storage
    let fails = false
    const keeper = breakerKeeper({
      ...storage,
      get: (collection, key) =>
        fails && collection === KILL_ACTIVATIONS
          ? Effect.fail(new StorageUnavailable({ reason: "a fault of the test", wrote: "no" }))
          : storage.get(collection, key)
    })
    const samples = Effect.gen(function* () {
      const asOf = yield* storage.asOf
      const windows = yield* keeper.of(agentId, asOf)
      return windows!.read(id, asOf, { isActive: true, orphanedSinceMs: null, firstBadSeq: null })?.samples
    })
    assert.strictEqual(yield* samples, 1)
    yield* witness("error", "ok", "ok")
    // Expects the instance, which its document names.
    yield* Kill.use((kill) =>
      kill.activate({ target_type: "agent", target_id: agentId, response: "drain", reason: "Test." }, ann)
    )
    yield* recordExpected
    yield* witness("ok", "ok")
    fails = true
    assert.strictEqual((yield* Effect.flip(samples))._tag, "StorageUnavailable")
    assert.strictEqual((yield* Effect.flip(samples))._tag, "StorageUnavailable")
    fails = false
    assert.strictEqual(yield* samples, 6)
  }).pipe(Effect.provide(governorWorld()))
)
