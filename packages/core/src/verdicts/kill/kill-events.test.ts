import { assert, describe, it } from "@effect/vitest"
import type { KillEvent, KillEventsQuery } from "@flyball/contract"
import { Effect } from "effect"
import { unitScope } from "../../foundation/scope.ts"
import { systemHost } from "../../foundation/writer.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Breakers } from "../breakers/service.ts"
import { Capture } from "../capture/service.ts"
import { checkChannel } from "../drills/channel-check.ts"
import { Drills } from "../drills/service.ts"
import { ann, ben } from "../evaluations/testing/refunds.ts"
import { listKillEvents } from "./kill-events.ts"
import { Kill } from "./service.ts"

/** An attested drill of the agent, a shadow trip, a trip that halts it, and its release; and others' events. */
const story = Effect.gen(function* () {
  const { id: agentId } = yield* registered("bot", "ops")
  const other = yield* registered("other", "sales")
  const drills = yield* Drills
  const kill = yield* Kill
  const breakers = yield* Breakers
  const drill = yield* drills.start(
    { target_type: "agent", target_id: agentId, mode: "shadow", scenario: "It pays twice.", slo_ms: 5_000 },
    ann
  )
  yield* kill.ack(
    { activation_event: drill.activation_event, instance_id: "pod-1", in_flight: 0, stopped: false },
    systemHost
  )
  yield* drills.complete(drill.id, ann)
  yield* drills.attest(drill.id, ben)
  for (const [name, mode] of [
    ["quiet", "shadow"],
    ["errors", "enforce"]
  ] as const)
    yield* breakers.arm(
      agentId,
      {
        name,
        metric: "error_rate",
        params: { window_ms: 3_600_000, min_samples: 1, threshold_bp: 5_000 },
        enabled: true,
        mode
      },
      ann
    )
  yield* (yield* Capture).witness(
    agentId,
    [{ client_ref: "1", kind: "tool_call", action: "pay", status: "error" }],
    systemHost
  )
  const tripped = yield* breakers.check()
  const halt = tripped.find(({ name }) => name === "errors")!.fired_event_id!
  yield* kill.release({ activation_event: halt, reason: "Repaired." }, ann)
  yield* kill.activate({ target_type: "agent", target_id: other.id, response: "halt", reason: "Theirs." }, ann)
  yield* kill.activate({ target_type: "model", target_id: "gpt-9", response: "halt", reason: "Everybody's." }, ann)
  yield* checkChannel
  return { agentId, drill, halt }
})

const ofOps = [
  "drill.started",
  "kill.activated",
  "kill.expected",
  "kill.acknowledged",
  "kill.released",
  "drill.completed",
  "drill.attested",
  "breaker.tripped",
  "breaker.tripped",
  "kill.activated",
  "kill.released"
]

const kindsOf = (entries: ReadonlyArray<KillEvent>) => entries.map(({ kind }) => kind)

describe("the log of the kill switch", () => {
  it.effect("has drills and trips of breakers too, newest first, and says what each is", () =>
    Effect.gen(function* () {
      const { agentId, drill, halt } = yield* story
      const entries = yield* Kill.use((kill) => kill.events({}, unitScope("ops")))
      assert.sameMembers([...kindsOf(entries)], ofOps)
      const seqs = entries.map(({ seq }) => seq)
      assert.deepStrictEqual(
        seqs,
        seqs.toSorted((a, b) => b - a)
      )
      for (const entry of entries.filter(({ kind }) => kind !== "breaker.tripped"))
        assert.deepInclude(entry, { target_type: "agent", target_id: agentId })
      const one = (kind: string) => entries.filter((entry) => entry.kind === kind)
      const found = (query: KillEventsQuery) => Kill.use((kill) => kill.events(query, unitScope("ops")))
      assert.deepStrictEqual(yield* found({ kind: "drill.started" }), one("drill.started"))
      assert.deepStrictEqual(yield* found({ agent_id: agentId }), entries)
      assert.deepStrictEqual(yield* found({ agent_id: `agt_${"0".repeat(26)}` }), [])
      assert.deepStrictEqual(yield* found({ since: entries[0]!.at, kind: entries[0]!.kind, limit: 1 }), [entries[0]!])
      assert.deepStrictEqual(yield* found({ since: "2998-01-01T00:00:00.000Z" }), [])
      assert.deepInclude(one("drill.started")[0], {
        drill_id: drill.id,
        mode: "shadow",
        activation_event: drill.activation_event,
        actor: ann.id
      })
      assert.deepInclude(one("drill.completed")[0], { drill_id: drill.id, met: true, instances: 1 })
      assert.deepInclude(one("drill.attested")[0], { drill_id: drill.id, actor: ben.id })
      assert.sameDeepMembers(
        one("breaker.tripped").map(({ activation_event, agent_id, metric, mode, value }) => ({
          activation_event,
          agent_id,
          metric,
          mode,
          value
        })),
        [
          { activation_event: halt, agent_id: agentId, metric: "error_rate", mode: "enforce", value: "1/1" },
          { activation_event: null, agent_id: agentId, metric: "error_rate", mode: "shadow", value: "1/1" }
        ]
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("has what concerns every org unit only for those of all, and the channel check for nobody", () =>
    Effect.gen(function* () {
      yield* story
      const all = yield* Kill.use((kill) => kill.events({}))
      assert.sameMembers([...kindsOf(all)], [...ofOps, "kill.activated", "kill.activated"])
      const sales = yield* Kill.use((kill) => kill.events({}, unitScope("sales")))
      assert.deepStrictEqual(
        sales.map(({ kind, reason }) => [kind, reason]),
        [["kill.activated", "Theirs."]]
      )
      const paged: Array<number> = []
      for (let before = all[0]!.seq + 1; ;) {
        const page = yield* Kill.use((kill) => kill.events({ limit: 5, before }))
        if (page.length === 0) break
        paged.push(...page.map(({ seq }) => seq))
        before = paged.at(-1)!
      }
      assert.deepStrictEqual(
        paged,
        all.map(({ seq }) => seq)
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("reads the parts of what it shows in one go, and none of what it does not show", () =>
    Effect.gen(function* () {
      yield* story
      const storage = yield* Storage
      const read: Array<ReadonlyArray<number>> = []
      const counted = Storage.of({ ...storage, parts: (seqs) => (read.push(seqs), storage.parts(seqs)) })
      const sales = yield* listKillEvents(counted, {}, unitScope("sales"))
      assert.deepStrictEqual(read, [sales.map(({ seq }) => seq)])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("names where to continue where it read all that it may and shows none of it", () =>
    Effect.gen(function* () {
      const ours = yield* registered("bot", "ops")
      const theirs = yield* registered("other", "sales")
      yield* Kill.use((kill) =>
        kill.activate({ target_type: "agent", target_id: ours.id, response: "notify", reason: "Ours." }, ann)
      )
      const storage = yield* Storage
      const body = { agent_id: theirs.id, writer: systemHost.id }
      yield* storage.commit({
        records: Array.from({ length: 600 }, () => ({ kind: "kill.requested", agentId: theirs.id, body, parts: [] }))
      })
      const refused = yield* Effect.flip(listKillEvents(storage, {}, unitScope("ops"), 500))
      const before = refused._tag === "InvalidInput" ? Number(refused.detail[0]?.ctx?.["before"]) : -1
      const found = yield* listKillEvents(storage, { before }, unitScope("ops"), 500)
      assert.deepStrictEqual(
        found.map(({ reason }) => reason),
        ["Ours."]
      )
      assert.deepStrictEqual(yield* listKillEvents(storage, {}, unitScope("nowhere"), 5_000), [])
    }).pipe(Effect.provide(governorWorld()))
  )
})
