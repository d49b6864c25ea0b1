/** Agents that work for another one, and what bodies of their records say. Spec: api.md, POST /agents. */
import { assert, describe, it } from "@effect/vitest"
import type { AgentCreate } from "@flyball/contract"
import { readRecord } from "@flyball/evidence"
import { orgUnitDigest } from "@flyball/rules"
import { Effect, Layer } from "effect"
import { Chain } from "../../chain/chain.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { AGENTS } from "./document.ts"
import { Agents } from "./service.ts"

const world = Layer.fresh(governorWorld())
const unknown = "agt_01m7ztsebfk6px1dbtghrjnj8e"
const create = (name: string, more: Partial<AgentCreate> = {}) =>
  Agents.use((agents) => agents.create({ name, org_unit: "ops", ...more }, writer))
const head = Storage.use((storage) => Effect.map(storage.head, (found) => found!.seq))
const bodies = (agentId: string) =>
  Storage.use((storage) =>
    Effect.map(storage.records({ agentId, limit: 10 }), (records) =>
      records.map(({ bytes }) => {
        const read = readRecord(bytes)
        assert.isTrue(read.ok)
        return read.ok ? read.record.body : {}
      })
    )
  )
const differences = Effect.map(
  Replay.use(({ check }) => check),
  (report) => report.differences
)
/** Returns the error that refuses a parent, and checks that nothing was recorded. */
const refused = Effect.fnUntraced(function* (name: string, more: Partial<AgentCreate>) {
  const before = yield* head
  const error = yield* Effect.flip(create(name, more))
  assert.strictEqual(error._tag, "InvalidInput")
  assert.strictEqual(yield* head, before)
  assert.isNull(yield* Agents.use((agents) => agents.find(name)))
  return error._tag === "InvalidInput" ? error.detail.map(({ loc, msg, type }) => [loc.join("."), type, msg]) : []
})
const notOfTheUnit = [["body.parent_agent_id", "value_error", "The parent must be an agent of the same org unit"]]

describe("an agent with a parent", () => {
  it.effect("shows it, seals it, keeps it through an update, and replay agrees", () =>
    Effect.gen(function* () {
      const parent = yield* create("parent")
      const child = yield* create("child", { parent_agent_id: parent.id, model_ids: ["m1", "m2"] })
      assert.deepStrictEqual([parent.parent_agent_id, child.parent_agent_id], [null, parent.id])
      const agents = yield* Agents
      const updated = yield* agents.update(child.id, { model_ids: ["m3"] }, writer)
      assert.strictEqual(updated.parent_agent_id, parent.id)
      const digest = orgUnitDigest((yield* Chain).originTag, "ops")
      const sealed = (model_ids: ReadonlyArray<string>) => ({
        model_ids,
        org_unit_digest: digest,
        owner_complete: false,
        parent_agent_id: parent.id
      })
      const [first, second] = yield* bodies(child.id)
      assert.deepInclude(first, sealed(["m1", "m2"]))
      assert.deepInclude(second, sealed(["m3"]))
      assert.notProperty((yield* bodies(parent.id))[0], "parent_agent_id")
      assert.deepStrictEqual(yield* differences, [])
    }).pipe(Effect.provide(world))
  )

  it.effect("is refused where the parent is unknown, or of another unit, in the same words", () =>
    Effect.gen(function* () {
      const other = yield* create("other", { org_unit: "sales" })
      assert.deepStrictEqual(yield* refused("child", { parent_agent_id: unknown }), notOfTheUnit)
      assert.deepStrictEqual(yield* refused("child", { parent_agent_id: other.id }), notOfTheUnit)
      assert.deepStrictEqual(yield* refused("child", { parent_agent_id: "courier" }), notOfTheUnit)
    }).pipe(Effect.provide(world))
  )

  it.effect("has at most eight ancestors", () =>
    Effect.gen(function* () {
      let parent = yield* create("a0")
      for (let depth = 1; depth <= 8; depth++) parent = yield* create(`a${depth}`, { parent_agent_id: parent.id })
      assert.deepStrictEqual(yield* refused("a9", { parent_agent_id: parent.id }), [
        ["body.parent_agent_id", "value_error", "An agent can have at most 8 ancestors"]
      ])
      assert.deepStrictEqual(yield* differences, [])
    }).pipe(Effect.provide(world))
  )

  it.effect("is found by its name again, whatever parent a later registration names, itself too", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const agent = yield* create("courier")
      for (const parent_agent_id of [agent.id, unknown]) {
        const found = yield* agents.register({ name: "courier", org_unit: "ops", parent_agent_id }, writer)
        assert.deepStrictEqual(found, { agent, created: false })
      }
      assert.strictEqual(yield* head, 1)
    }).pipe(Effect.provide(world))
  )

  it.effect("may have one whose profile was erased: the digest of the unit stays", () =>
    Effect.gen(function* () {
      const parent = yield* create("parent", { model_ids: ["m1"] })
      yield* Erasure.use((erasure) => erasure.erase({ seq: 1, name: "profile", reason: "subject_request" }, writer))
      const child = yield* create("child", { parent_agent_id: parent.id })
      assert.strictEqual(child.parent_agent_id, parent.id)
      const agents = yield* Agents
      yield* agents.update(parent.id, { risk_class: "high" }, writer)
      const updated = (yield* bodies(parent.id)).at(-1)!
      assert.deepStrictEqual([updated["risk_class"], updated["model_ids"]], ["high", ["m1"]])
      // The profile has no models any more. A record is due, since the body named some.
      yield* agents.update(parent.id, { model_ids: [] }, writer)
      assert.deepStrictEqual((yield* bodies(parent.id)).at(-1)!["model_ids"], [])
      assert.deepStrictEqual(yield* differences, [])
    }).pipe(Effect.provide(world))
  )

  it.effect("whose document names another parent than its records is found by replay", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const parent = yield* create("parent")
      const child = yield* create("child", { parent_agent_id: parent.id })
      const { body, version } = (yield* storage.get(AGENTS, child.id))!
      yield* storage.commit({
        puts: [
          {
            collection: AGENTS,
            id: child.id,
            expectedVersion: version,
            body: { ...body, parentAgentId: unknown },
            unique: { name: "child" },
            keys: { org_unit: "ops" }
          }
        ]
      })
      assert.deepStrictEqual(
        (yield* differences).map(({ id, path }) => [id, path]),
        [[child.id, "/parentAgentId"]]
      )
    }).pipe(Effect.provide(world))
  )
})
