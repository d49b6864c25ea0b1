import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { unitScope } from "../../foundation/scope.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { BREAKERS } from "@flyball/rules"
import { AGENTS } from "../../registry/agents/document.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Provenance } from "../../registry/provenance/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { acknowledged, drilled } from "../drills/testing/drilled.ts"
import { Breakers } from "../breakers/service.ts"
import { Capture } from "../capture/service.ts"
import { recordExpected } from "../kill/expected.ts"
import { Kill } from "../kill/service.ts"
import { Safety } from "./service.ts"

const world = Layer.fresh(governorWorld())
const view = (query = {}, unit?: string) =>
  Safety.use((safety) => safety.view(query, unit === undefined ? undefined : unitScope(unit)))
const activate = (target_type: "agent" | "model", target_id: string, response: "halt" | "notify" | "drain" = "halt") =>
  Kill.use((kill) => kill.activate({ target_type, target_id, response, reason: "Pays twice." }, writer))
/** Ids of one millisecond are in no order. */
const register = (name: string, more = {}) =>
  Effect.andThen(
    TestClock.adjust(1),
    Agents.use((agents) =>
      Effect.map(agents.register({ name, org_unit: "ops", ...more }, writer), ({ agent }) => agent)
    )
  )

/** That each row says what the kill status of its agent says. */
const agrees = Effect.gen(function* () {
  const { agents, epoch } = yield* view()
  for (const row of agents) {
    const status = yield* Kill.use((kill) => kill.status({ type: "agent", id: row.agent_id }))
    const { activation_event, drill, effective_response, halted, response, since } = row
    assert.deepInclude(status, { activation_event, drill, effective_response, halted, response, since, epoch })
  }
  return agents
})

describe("the safety view", () => {
  it.effect("says of every agent what its kill status says, however it is reached", () =>
    Effect.gen(function* () {
      const parent = yield* register("parent")
      yield* register("child", { parent_agent_id: parent.id })
      yield* register("by name", { model_ids: ["gpt-9"] })
      const pieced = yield* register("by provenance")
      yield* Provenance.use((provenance) => provenance.add(pieced.id, { kind: "model", name: "gpt-9" }, writer))
      yield* register("untouched")
      assert.deepStrictEqual(
        (yield* agrees).map(({ halted }) => halted),
        [false, false, false, false, false]
      )
      yield* activate("agent", parent.id, "drain")
      yield* activate("model", "gpt-9")
      assert.deepStrictEqual(
        (yield* agrees).map(({ effective_response, name }) => [name, effective_response]),
        [
          ["parent", "drain"],
          ["child", "drain"],
          ["by name", "halt"],
          ["by provenance", "halt"],
          ["untouched", null]
        ]
      )
      // A page that holds the child and not its parent.
      const paged = yield* view({ after: parent.id, limit: 1 })
      assert.deepStrictEqual(
        paged.agents.map(({ effective_response, name }) => [name, effective_response]),
        [["child", "drain"]]
      )
    }).pipe(Effect.provide(world))
  )

  it.effect("never counts an instance that did not answer as stopped", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* Capture.use((capture) =>
        capture.witness(
          id,
          ["a", "b"].map((instance_id) => ({
            client_ref: instance_id,
            kind: "tool_call",
            action: "pay",
            status: "ok",
            instance_id
          })),
          writer
        )
      )
      const { activation_event } = yield* activate("agent", id)
      const acks = Effect.map(view(), ({ agents }) => agents[0]!.acks)
      assert.deepStrictEqual(yield* acks, { expected: null, acknowledged: 0, stopped: 0, unconfirmed: 0 })
      yield* recordExpected
      assert.deepStrictEqual(yield* acks, { expected: 2, acknowledged: 0, stopped: 0, unconfirmed: 0 })
      yield* acknowledged(activation_event!, id, "b")
      assert.deepStrictEqual(yield* acks, { expected: 2, acknowledged: 1, stopped: 0, unconfirmed: 0 })
    }).pipe(Effect.provide(world))
  )

  it.effect("shows who is missing: owner, recertification, drill", () =>
    Effect.gen(function* () {
      const { id } = yield* register("courier", { recert_due_at: "1970-01-01T00:01:00.000Z", autonomy_tier: "L4" })
      const row = Effect.map(view(), ({ agents }) => agents[0]!)
      assert.deepInclude(yield* row, {
        status: "draft",
        autonomy_tier: "L4",
        orphan: true,
        recert_overdue: false,
        last_drill_at: null,
        drill_attested_at: null,
        drill_overdue: true
      })
      yield* Agents.use((agents) =>
        agents.transferOwnership(id, { owner_name: "Ada", owner_email: "ada@example.org" }, writer)
      )
      yield* TestClock.setTime(60_000)
      yield* drilled(id)
      assert.deepInclude(yield* row, {
        orphan: false,
        recert_overdue: true,
        last_drill_at: "1970-01-01T00:01:00.000Z",
        drill_attested_at: "1970-01-01T00:01:00.000Z",
        drill_overdue: false
      })
      yield* Agents.use((agents) => agents.decommission(id, writer))
      assert.deepInclude(yield* row, { status: "decommissioned", recert_overdue: false, drill_overdue: false })
    }).pipe(Effect.provide(world))
  )

  it.effect("shows the breakers that are switched on, whether few agents are requested or many", () =>
    Effect.gen(function* () {
      const { id } = yield* register("courier")
      const breakers = yield* Breakers
      const input = { metric: "consecutive_failures", params: { max_count: 1 }, enabled: true, mode: "warn" } as const
      const armed = yield* breakers.arm(id, { ...input, name: "b" }, writer)
      yield* breakers.arm(id, { ...input, name: "a" }, writer)
      yield* breakers.arm(id, { ...input, name: "off", enabled: false }, writer)
      const shown = (tripped: boolean) => [
        { name: "a", metric: "consecutive_failures", mode: "warn", tripped },
        { id: armed.id, name: "b", metric: "consecutive_failures", mode: "warn", tripped }
      ]
      const own = Effect.map(view(), ({ agents }) => agents[0]!.breakers)
      const matches = (found: ReadonlyArray<object>, tripped: boolean) => {
        assert.lengthOf(found, 2)
        for (const [n, one] of shown(tripped).entries()) assert.deepInclude(found[n], one)
      }
      matches(yield* own, false)
      yield* Capture.use((capture) =>
        capture.witness(id, [{ client_ref: "1", kind: "tool_call", action: "pay", status: "error" }], writer)
      )
      yield* breakers.check()
      matches(yield* own, true)
      for (let n = 0; n < 40; n++) yield* register(`other ${n}`)
      matches(yield* own, true)
    }).pipe(Effect.provide(world))
  )

  it.effect("shows people of a unit its agents alone, page by page without a gap", () =>
    Effect.gen(function* () {
      for (let n = 0; n < 12; n++) yield* register(`a${n}`, { org_unit: n % 3 === 0 ? "ward 7" : "ward 8" })
      const names = (agents: ReadonlyArray<{ readonly name: string }>) => agents.map(({ name }) => name)
      const all = names((yield* view({}, "ward 7")).agents)
      assert.deepStrictEqual(all, ["a0", "a3", "a6", "a9"])
      const paged: Array<string> = []
      for (let after: string | undefined; ;) {
        const { agents } = yield* view({ limit: 3, ...(after === undefined ? {} : { after }) }, "ward 7")
        paged.push(...names(agents))
        if (agents.length === 0) break
        after = agents.at(-1)!.agent_id
      }
      assert.deepStrictEqual(paged, all)
    }).pipe(Effect.provide(world))
  )

  it.effect("reads for a page the breakers of its agents alone, and no agent by itself to find those of a unit", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const lists: { [collection: string]: number } = {}
      const counted = Storage.of({
        ...storage,
        list: (collection, page) =>
          Effect.suspend(() => {
            lists[collection] = (lists[collection] ?? 0) + 1
            return storage.list(collection, page)
          })
      })
      const safety = yield* Safety.pipe(
        Effect.provide(Layer.fresh(Safety.layer)),
        Effect.provideService(Storage, counted)
      )
      for (let n = 0; n < 40; n++) yield* register(`other ${n}`)
      const { id } = yield* register("last", { org_unit: "ward 7" })
      const input = { name: "b", metric: "consecutive_failures", params: { max_count: 1 }, enabled: true } as const
      yield* Breakers.use((breakers) => breakers.arm(id, { ...input, mode: "warn" }, writer))
      const page = yield* safety.view({ limit: 41 })
      assert.lengthOf(page.agents.at(-1)!.breakers, 1)
      assert.isUndefined(lists[BREAKERS])
      assert.lengthOf((yield* safety.view({})).agents.at(-1)!.breakers, 1)
      assert.strictEqual(lists[BREAKERS], 1)
      lists[AGENTS] = 0
      const { agents } = yield* safety.view({ limit: 1 }, unitScope("ward 7"))
      assert.deepStrictEqual(
        agents.map(({ name }) => name),
        ["last"]
      )
      assert.strictEqual(lists[AGENTS], 1)
    }).pipe(Effect.provide(world))
  )

  it.effect("counts the instances of each agent under a halt that reaches several", () =>
    Effect.gen(function* () {
      const ids: Array<string> = []
      for (const name of ["a", "b"]) {
        const { id } = yield* register(name)
        ids.push(id)
        yield* Provenance.use((provenance) => provenance.add(id, { kind: "model", name: "gpt-9" }, writer))
        yield* Capture.use((capture) =>
          capture.witness(
            id,
            ["1", "2"].map((n) => ({
              client_ref: n,
              kind: "tool_call",
              action: "pay",
              status: "ok",
              instance_id: `${name}${n}`
            })),
            writer
          )
        )
      }
      const { activation_event } = yield* activate("model", "gpt-9")
      yield* recordExpected
      yield* acknowledged(activation_event!, ids[0]!, "a1")
      yield* acknowledged(activation_event!, ids[1]!, "b1")
      yield* acknowledged(activation_event!, ids[1]!, "b2")
      const { agents } = yield* view()
      assert.deepStrictEqual(
        agents.map(({ acks }) => [acks!.expected, acks!.acknowledged]),
        [
          [2, 1],
          [2, 2]
        ]
      )
    }).pipe(Effect.provide(world))
  )
})

describe("the counts for metrics", () => {
  it.effect("have each status of each unit, a minute old at most, and bound the units", () =>
    Effect.gen(function* () {
      const counted = Effect.map(
        Safety.use((safety) => safety.health),
        ({ agents }) =>
          agents.flatMap(({ count, orgUnit, status }) => (count > 0 ? [`${orgUnit} ${status} ${count}`] : []))
      )
      const one = yield* register("one")
      yield* register("two")
      yield* register("three", { org_unit: "ward 7" })
      yield* Agents.use((agents) => agents.suspend(one.id, {}, writer))
      assert.deepStrictEqual(yield* counted, ["ops draft 1", "ops suspended 1", "ward 7 draft 1"])
      yield* Agents.use((agents) => agents.decommission(one.id, writer))
      for (let n = 0; n < 100; n++) yield* register(`more ${n}`, { org_unit: `unit ${n}` })
      assert.lengthOf(yield* counted, 3, "the count of a minute ago")
      yield* TestClock.adjust("1 minute")
      const later = yield* counted
      assert.deepStrictEqual(later.slice(0, 3), ["ops draft 1", "ops decommissioned 1", "ward 7 draft 1"])
      assert.deepStrictEqual([later.length, later.at(-1)], [3 + 98 + 1, " draft 2"])
    }).pipe(Effect.provide(world))
  )
})
