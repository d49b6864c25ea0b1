/** Chains with a halt that who holds the key changed and sealed again: hashes and signatures are right. */
import { Agents, Kill } from "@flyball/core"
import { memoryStorage } from "@flyball/core/storage"
import type { JsonObject } from "@flyball/evidence"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { openPack, type OpenPack } from "@flyball/testkit"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { activeAgent, ann, ask, ben, exported, inBoundedWorld, publish, refunds } from "./bounded-world.ts"
import { resealed, withBody } from "./changed-pack.ts"
import { replayed } from "./replayed.ts"

const database = givenDatabase({ beforeAll, afterAll })

const activate = (target_type: "agent" | "model", target_id: string, response: "step_down" | "drain" | "halt") =>
  Effect.map(
    Kill.use((kill) => kill.activate({ target_type, target_id, response, reason: "Pays twice." }, ann)),
    ({ activation_event: id }) => id!
  )
const release = (activation_event: string) =>
  Kill.use((kill) => kill.release({ activation_event, reason: "Fixed." }, ben))

/** Asks before, under and after activations of each kind, two of them at once. Its last halt reaches an agent at L3. */
const stoppedLife = Effect.gen(function* () {
  const agents = yield* Agents
  const agentId = yield* activeAgent("refund bot")
  yield* publish({ agent_id: agentId }, refunds())
  yield* agents.update(agentId, { autonomy_tier: "L2", model_ids: ["gpt-9"] }, ben)
  const evaluated = ask(agentId, { tool: "search" })
  yield* evaluated
  const lowered = yield* activate("agent", agentId, "step_down")
  yield* evaluated
  const model = yield* activate("model", "gpt-9", "drain")
  yield* evaluated
  yield* release(lowered)
  yield* evaluated
  yield* release(model)
  yield* evaluated
  // An agent in draft has any tier.
  const { agent } = yield* agents.register(
    { name: "drafted", org_unit: "support", autonomy_tier: "L3", parent_agent_id: agentId },
    ann
  )
  const high = yield* activate("agent", agent.id, "halt")
  const halt = yield* activate("agent", agentId, "halt")
  yield* evaluated
  yield* Kill.use((kill) =>
    kill.ack({ activation_event: halt, agent_id: agentId, instance_id: "pod", stopped: true }, ann)
  )
  yield* release(high)
  yield* release(halt)
  yield* evaluated
  return { agentId, halt, high }
})

const lived = (choice = memoryStorage()) =>
  inBoundedWorld(
    Effect.gen(function* () {
      const life = yield* stoppedLife
      return { life, ...(yield* exported({ kind: "full" })) }
    }),
    choice
  )

describe("an agent that was halted and released", { timeout: 60_000 }, () => {
  it.each([
    ["memory", () => memoryStorage()],
    ["SQLite", () => sqliteStorage({ file: ":memory:" })],
    ["Postgres", () => postgresStorage({ url: database.url, schema: "kills" })]
  ] as const)("replays without a mismatch, on %s", async (_, open) => {
    const { pack, vkey } = await lived(open())
    const { replay, status } = await replayed(pack, vkey)
    expect({ status, ok: replay!.verdicts.ok, mismatches: replay!.mismatches }).toEqual({
      status: 0,
      ok: 7,
      mismatches: []
    })
    const rules = openPack(pack).records.flatMap(({ body, kind }) =>
      kind === "evaluation.made" ? [body["matched_rule"]] : []
    )
    expect(rules).toEqual(["search", "search", "@killed", "@killed", "search", "@killed", "search"])
  })
})

describe("replay finds, in a chain that the key holder changed,", { timeout: 60_000 }, () => {
  let open: OpenPack
  let life: { readonly agentId: string; readonly halt: string; readonly high: string }
  beforeAll(async () => {
    const made = await lived()
    open = openPack(made.pack)
    life = made.life
  })
  const seqOf = (kind: string, says: (body: JsonObject) => boolean): number =>
    open.records.findIndex((record) => record.kind === kind && says(record.body))
  const underHalt = (): number =>
    seqOf("evaluation.made", ({ activations }) => JSON.stringify(activations ?? "").includes(life.halt))
  const found = async (changed: OpenPack) => {
    const { authenticity, integrity, replay, status } = await resealed(changed)
    expect([status, integrity, authenticity]).toEqual([1, "ok", "signed_by_pinned_key"])
    return replay!.mismatches.map(({ seq, verdict }) => [seq, verdict])
  }
  const allowed = { outcome: "allow", matched_rule: "search" }

  it("an evaluation that allows under a halt and names it", async () => {
    const seq = underHalt()
    expect(await found(withBody(open, seq, (body) => ({ ...body, ...allowed })))).toEqual([[seq, "killed_but_allowed"]])
  })

  it("an evaluation that allows under a halt and omits it", async () => {
    const seq = underHalt()
    expect(await found(withBody(open, seq, ({ activations: _, ...body }) => ({ ...body, ...allowed })))).toEqual([
      [seq, "killed_but_allowed"]
    ])
  })

  it("an evaluation that denies and omits the halt", async () => {
    const seq = underHalt()
    expect(await found(withBody(open, seq, ({ activations: _, ...body }) => body))).toEqual([
      [seq, "activation_mismatch"]
    ])
  })

  it("a halt that names another agent", async () => {
    const seq = seqOf("kill.activated", (body) => body["activation_id"] === life.halt)
    expect(
      await found(withBody(open, seq, (body) => ({ ...body, target_id: `agt_${"0".repeat(26)}` })))
    ).toContainEqual([underHalt(), "activation_mismatch"])
  })

  it("an L3 halt released by the person who made it", async () => {
    const seq = seqOf("kill.released", (body) => body["activation_id"] === life.high)
    expect(await found(withBody(open, seq, (body) => ({ ...body, writer: ann.id })))).toEqual([
      [seq, "release_not_allowed"]
    ])
  })

  it("a halt released by a rule", async () => {
    const seq = seqOf("kill.released", (body) => body["activation_id"] === life.halt)
    expect(await found(withBody(open, seq, (body) => ({ ...body, writer: "breaker:errors" })))).toEqual([
      [seq, "release_not_allowed"]
    ])
  })
})
