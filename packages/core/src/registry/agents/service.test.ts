import { assert, describe, it } from "@effect/vitest"
import { formatInstant, readRecord } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Storage } from "../../storage/port.ts"
import { systemHost } from "../../foundation/writer.ts"
import { Agents } from "./service.ts"

const ops = { orgUnits: ["ops"] }
const keyOfOps = { key: { orgUnits: ["ops"], maxTier: "L1" as const } }

describe("the agent registry", () => {
  it.effect("registers an agent once, and finds it from then on", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const first = yield* agents.register({ name: "refunds", org_unit: "ops" }, systemHost)
      const again = yield* agents.register({ name: "refunds", org_unit: "ops", purpose: "another" }, systemHost)
      assert.deepStrictEqual([first.created, again.created], [true, false])
      assert.deepStrictEqual(again.agent, first.agent)
      assert.deepStrictEqual(yield* agents.find("refunds"), first.agent)
      assert.deepStrictEqual(yield* agents.get(first.agent.id), first.agent)
      assert.isNull(yield* agents.find("Refunds"))
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("shows every member, and when the agent was made", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_795_230_000_123)
      const agent = yield* registered("refunds")
      assert.deepInclude(agent, {
        tenant_id: "default",
        status: "draft",
        version: 1,
        created_at: formatInstant(1_795_230_000_123),
        owner_email: "ada@example.org",
        purpose: null,
        identity_verified: false
      })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("settles a race of two registrations to one agent", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.all(
        Array.from({ length: 50 }, () =>
          Agents.use((agents) => agents.register({ name: "refunds", org_unit: "ops" }, systemHost))
        ),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(answers.map(({ agent }) => agent.id)).size, 1)
      assert.lengthOf(
        answers.filter(({ created }) => created),
        1
      )
      assert.lengthOf(yield* Storage.use((storage) => storage.records({ kinds: ["agent.registered"], limit: 100 })), 1)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("refuses to create a second agent of a name, and tells its id to those who may read it", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const agent = yield* agents.create({ name: "refunds", org_unit: "sales" }, systemHost)
      const refusal = (options?: typeof keyOfOps) =>
        Effect.flip(agents.create({ name: "refunds", org_unit: "ops" }, systemHost, options))
      assert.deepInclude(yield* refusal(), { _tag: "AgentNameTaken", agentId: agent.id })
      assert.deepInclude(yield* refusal(keyOfOps), { _tag: "AgentNameTaken", agentId: null })
      assert.deepInclude(yield* Effect.flip(agents.register({ name: "refunds" }, systemHost, keyOfOps)), {
        _tag: "AgentNameTaken",
        agentId: null
      })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("lets an agent whose tier was raised find itself with its old key", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agent } = yield* agents.register({ name: "refunds", org_unit: "ops", autonomy_tier: "L3" }, systemHost)
      const found = yield* agents.register({ name: "refunds", autonomy_tier: "L3" }, systemHost, keyOfOps)
      assert.deepStrictEqual(found, { agent, created: false })
      assert.strictEqual(
        (yield* Effect.flip(agents.register({ name: "other", autonomy_tier: "L3" }, systemHost, keyOfOps)))._tag,
        "TierOverCap"
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("hides other org units", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const mine = yield* registered("mine")
      const theirs = yield* registered("theirs", "sales")
      assert.isNull(yield* agents.find("theirs", ops))
      assert.strictEqual((yield* Effect.flip(agents.get(theirs.id, ops)))._tag, "AgentNotFound")
      assert.deepStrictEqual(
        (yield* agents.list({}, ops)).map(({ id }) => id),
        [mine.id]
      )
      assert.deepStrictEqual(
        (yield* agents.list({})).map(({ id }) => id),
        [mine.id, theirs.id].sort()
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("answers ids and names that cannot exist as not found", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      for (const id of ["", "agt_1", "\0", "agt_" + "z".repeat(26), "../../agents"])
        assert.strictEqual((yield* Effect.flip(agents.get(id)))._tag, "AgentNotFound")
      for (const name of ["", "a\0"]) assert.isNull(yield* agents.find(name))
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds a name however its accents are written", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const agent = yield* registered("caf\u00e9")
      assert.strictEqual((yield* agents.find("cafe\u0301"))?.id, agent.id)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("does not query the store for a name that no store can hold", () =>
    Effect.gen(function* () {
      const real = yield* Storage
      const careful = Storage.of({
        ...real,
        find: (collection, key, value) =>
          value.includes("\0") || !value.isWellFormed() ? Effect.die(value) : real.find(collection, key, value)
      })
      const agents = yield* Agents.pipe(
        Effect.provide(Layer.fresh(Agents.layer).pipe(Layer.provide(Layer.succeed(Storage, careful))))
      )
      for (const name of ["a\0", "\ud800"]) assert.isNull(yield* agents.find(name))
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("lists by name, prefix, tier and status, in pages, oldest first", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const ids: Array<string> = []
      for (const name of ["a1", "a2", "b1", "b2"]) {
        yield* TestClock.adjust(1)
        ids.push((yield* registered(name)).id)
      }
      const named = (query: Parameters<typeof agents.list>[0]) =>
        Effect.map(agents.list(query), (found) => found.map(({ name }) => name))
      assert.deepStrictEqual(yield* named({}), ["a1", "a2", "b1", "b2"])
      assert.deepStrictEqual(yield* named({ q: "b" }), ["b1", "b2"])
      assert.deepStrictEqual(yield* named({ name: "b" }), [])
      assert.deepStrictEqual(yield* named({ name: "b1" }), ["b1"])
      assert.deepStrictEqual(
        [
          yield* named({ name: "b1", status: "active" }),
          yield* named({ name: "b1", after: ids[2]! }),
          yield* named({ name: "b1", after: ids[1]! })
        ],
        [[], [], ["b1"]]
      )
      assert.deepStrictEqual(yield* agents.list({ name: "b1" }, { orgUnits: ["elsewhere"] }), [])
      assert.deepStrictEqual(yield* named({ status: "active" }), [])
      assert.deepStrictEqual(yield* named({ autonomy_tier: "L0", limit: 3 }), ["a1", "a2", "b1"])
      assert.deepStrictEqual(yield* named({ after: ids[1]!, limit: 1 }), ["b1"])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("names no person and no name in the record", () =>
    Effect.gen(function* () {
      yield* registered("Ada's bot")
      const [record] = yield* Storage.use((storage) => storage.records({ kinds: ["agent.registered"], limit: 1 }))
      const read = readRecord(record!.bytes)
      assert.isTrue(read.ok)
      assert.notMatch(new TextDecoder().decode(record!.bytes), /Ada|example\.org|ops/)
    }).pipe(Effect.provide(governorWorld()))
  )
})
