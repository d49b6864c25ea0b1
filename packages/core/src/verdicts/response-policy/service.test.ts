import { assert, describe, it } from "@effect/vitest"
import type { PolicyRow } from "@flyball/contract"
import { emptyResponsePolicy } from "@flyball/rules"
import { Effect } from "effect"
import { unitScope } from "../../foundation/scope.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { ResponsePolicies } from "./service.ts"

const row = (more: Partial<PolicyRow> = {}): PolicyRow => ({
  scope: "default",
  target: null,
  trigger: "breaker",
  response: "halt",
  notify: ["ada@example.org"],
  ...more
})
const replayed = Effect.map(
  Replay.use(({ check }) => check),
  ({ differences }) => differences
)
const head = Storage.use((storage) => Effect.map(storage.head, (found) => found?.seq))
/** Sets a policy that is refused, and answers where; nothing may be recorded. */
const refused = Effect.fnUntraced(function* (rows: ReadonlyArray<PolicyRow>) {
  const before = yield* head
  const error = yield* Effect.flip(ResponsePolicies.use((policies) => policies.set(rows, writer)))
  assert.strictEqual(error._tag, "InvalidInput")
  assert.strictEqual(yield* head, before)
  return error._tag === "InvalidInput" ? error.detail.map(({ loc }) => loc.join(".")) : []
})

describe("the response policy", () => {
  it.effect("is empty at first, then what was set last; replay agrees, and no record holds an address", () =>
    Effect.gen(function* () {
      const policies = yield* ResponsePolicies
      const { id } = yield* registered("courier", "ward 7")
      assert.deepStrictEqual(yield* policies.get(), { value: [], version: 0 })
      const rows = [
        row(),
        row({ scope: "tier", target: "L3", response: "quarantine" }),
        row({ scope: "org_unit", target: "ward 7", response: "drain", notify: [] }),
        row({ scope: "org_unit", target: "a unit without agents" }),
        row({ scope: "agent", target: id, trigger: "agent_request", response: "halt" })
      ]
      assert.deepStrictEqual(yield* policies.set([row()], writer), { value: [row()], version: 1 })
      assert.deepStrictEqual(yield* policies.set(rows, writer), { value: rows, version: 2 })
      assert.deepStrictEqual((yield* policies.get()).value, rows)
      assert.deepStrictEqual(yield* policies.responseFor({ id, tier: "L1", orgUnit: "ward 7" }, "breaker"), {
        response: "drain",
        notify: []
      })
      assert.isNull(yield* policies.responseFor({ id: "agt_2", tier: "L1", orgUnit: "ward 7" }, "agent_request"))
      assert.deepStrictEqual(yield* replayed, [])
      const records = yield* Storage.use((storage) =>
        storage.records({ kinds: ["response_policy.changed"], limit: 10 })
      )
      assert.lengthOf(records, 2)
      for (const { bytes } of records) assert.notMatch(new TextDecoder().decode(bytes), /ada@|ward 7/)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("refuses what could not count, all of it listed, and records nothing", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier", "ward 7")
      assert.deepStrictEqual(yield* refused([row(), row({ trigger: "drift" }), row({ response: "drain" })]), ["body.2"])
      const agent = row({ scope: "agent", target: id })
      assert.deepStrictEqual(yield* refused([agent, { ...agent, response: "notify" }]), ["body.1"])
      assert.deepStrictEqual(
        yield* refused([
          row({ target: "L1" }),
          row({ scope: "tier", target: "L5" }),
          row({ scope: "tier", target: null }),
          row({ scope: "org_unit", target: null }),
          row({ scope: "agent", target: `agt_${"0".repeat(26)}` }),
          row({ scope: "agent", target: "courier" })
        ]),
        ["body.0.target", "body.1.target", "body.2.target", "body.3.target", "body.4.target", "body.5.target"]
      )
      assert.deepStrictEqual(
        yield* refused([
          row({ trigger: "orphan", response: "step_down" }),
          row({ trigger: "recert", response: "drain" }),
          row({ trigger: "orphan", scope: "tier", target: "L1", response: "halt" }),
          row({ trigger: "recert", scope: "tier", target: "L1", response: "notify" })
        ]),
        ["body.0.response", "body.1.response"]
      )
      assert.deepStrictEqual(
        yield* refused([
          row({ trigger: "review", response: "halt" }),
          row({ trigger: "review", scope: "tier", target: "L1", response: "notify" })
        ]),
        ["body.0.response"]
      )
      assert.deepStrictEqual((yield* ResponsePolicies.use(({ get }) => get())).value, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("shows people of a unit the rows for everyone and those of their own agents and unit", () =>
    Effect.gen(function* () {
      const policies = yield* ResponsePolicies
      const here = yield* registered("courier", "ward 7")
      const there = yield* registered("cleaner", "ward 8")
      const general = [row(), row({ scope: "tier", target: "L2" })]
      const own = [row({ scope: "org_unit", target: "ward 7" }), row({ scope: "agent", target: here.id })]
      const others = [row({ scope: "org_unit", target: "ward 8" }), row({ scope: "agent", target: there.id })]
      yield* policies.set([...others, ...general, ...own], writer)
      assert.deepStrictEqual((yield* policies.get(unitScope("ward 7"))).value, [...general, ...own])
      assert.deepStrictEqual((yield* policies.get(unitScope("ward 9"))).value, general)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("forgets its rows when the part is erased, and replay agrees", () =>
    Effect.gen(function* () {
      const policies = yield* ResponsePolicies
      yield* policies.set([row()], writer)
      yield* policies.set([row({ response: "drain" })], writer)
      const seqs = (yield* Storage.use((storage) =>
        storage.records({ kinds: ["response_policy.changed"], limit: 10 })
      )).map(({ seq }) => seq)
      const erase = (seq: number) =>
        Erasure.use((erasure) => erasure.erase({ seq, name: "policy", reason: "subject_request" }, writer))
      yield* erase(seqs[0]!)
      assert.deepStrictEqual((yield* policies.get()).value, [row({ response: "drain" })])
      yield* erase(seqs[1]!)
      assert.deepStrictEqual(yield* policies.current, emptyResponsePolicy)
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("setting the response policy with the version that was read", () => {
  it.effect("takes one of many who read the same, and records nothing for the others", () =>
    Effect.gen(function* () {
      const policies = yield* ResponsePolicies
      const results = yield* Effect.forEach(
        [0, 1, 2, 3],
        (n) =>
          policies.set([row({ notify: [`a${n}@example.org`] })], writer, 0).pipe(
            Effect.as("set"),
            Effect.catchTag("PolicyVersionConflict", ({ version }) => Effect.succeed(version))
          ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(results.toSorted(), [1, 1, 1, "set"])
      const { version } = yield* policies.get()
      assert.strictEqual(version, 1)
      assert.deepInclude(yield* policies.set([], writer, version), { value: [], version: 2 })
      const kinds = yield* Storage.use((storage) => storage.records({ kinds: ["response_policy.changed"], limit: 9 }))
      assert.lengthOf(kinds, 2)
    }).pipe(Effect.provide(governorWorld()))
  )
})
