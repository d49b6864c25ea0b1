/** Chains with reviews that who holds the key changed and sealed again: hashes and signatures are right. */
import { Agents, Evaluations, Kill, Reviews } from "@flyball/core"
import type { JsonObject } from "@flyball/evidence"
import type { OpenPack } from "@flyball/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { beforeAll, describe, expect, it } from "vitest"
import { activeAgent, ann, ask, ben, host, publish, refunds } from "./bounded-world.ts"
import { lived, resealed, withBody } from "./changed-pack.ts"

const carla = { writer: { id: `usr_${"0".repeat(25)}8` }, grants: "any", email: null } as const
const large = { tool: "refund", amount: 3_000 }

/** A review of each end, and an approval that is used, then presented again, and one presented for another action. */
const life = Effect.gen(function* () {
  const agentId = yield* activeAgent("refund bot")
  yield* publish({ agent_id: agentId }, refunds())
  yield* Agents.use((agents) => agents.update(agentId, { autonomy_tier: "L2" }, ben))
  const reviews = yield* Reviews
  const evaluations = yield* Evaluations
  let refs = 0
  const present = (approval_id: string, amount = 3_000) =>
    evaluations.evaluate(
      {
        agent_id: agentId,
        client_ref: `p-${refs++}`,
        approval_id,
        run_id: "run-1",
        signals: { ...large, amount },
        args: { ...large, amount }
      },
      host
    )
  const opened = (amount: number) => Effect.map(ask(agentId, { ...large, amount }), ({ review_id }) => review_id!)
  const [used, rejected, withdrawn, lapsed, late] = [
    yield* opened(3_000),
    yield* opened(3_010),
    yield* opened(3_020),
    yield* opened(3_030),
    yield* opened(3_040)
  ]
  yield* reviews.claim(used, { give_back: false }, carla)
  yield* reviews.resolve(used, { resolution: "approve" }, carla)
  yield* reviews.resolve(rejected, { resolution: "reject", reason: "Not now." }, carla)
  yield* reviews.withdraw(withdrawn, {}, host)
  yield* reviews.resolve(late, { resolution: "approve" }, carla)
  yield* present(used)
  yield* present(used)
  yield* present(late, 3_041)
  yield* TestClock.adjust(86_400_000)
  yield* present(late, 3_040)
  yield* reviews.sweep
  const halted = yield* opened(3_050)
  const kill = yield* Kill
  const { activation_event } = yield* kill.activate(
    { target_type: "agent", target_id: agentId, response: "halt", reason: "stop" },
    ann
  )
  yield* kill.release({ activation_event: activation_event!, reason: "go" }, ben)
  const after = yield* opened(3_060)
  yield* reviews.resolve(after, { resolution: "approve" }, carla)
  yield* reviews.sweep
  return { used, rejected, withdrawn, lapsed, late, halted, after }
})

let open: OpenPack
let who: Effect.Success<typeof life>
beforeAll(async () => {
  ;({ answer: who, open } = await lived(life))
})

const at = (kind: string, review: string): number =>
  open.records.findIndex((record) => record.kind === kind && record.body["review_id"] === review)
/** The evaluations that present an approval. */
const presenting = (review: string, nth = 0): number =>
  open.records.flatMap(({ body }, seq) => (body["approval_id"] === review ? [seq] : [])).at(nth)!

/** Replay finds a record under this name, and the pack itself is found in order. */
const finds = async (seq: number, change: JsonObject, verdict: string, reason: RegExp): Promise<void> => {
  const { findings, integrity, replay, status } = await resealed(
    withBody(open, seq, (body) => ({ ...body, ...change }))
  )
  expect({ findings, integrity, status }).toEqual({ findings: [], integrity: "ok", status: 1 })
  const [found] = replay!.mismatches
  expect(found).toMatchObject({ seq, verdict, reason: expect.stringMatching(reason) })
}

/** The verdict as if an approval had let it through. */
const without = (seq: number): OpenPack =>
  withBody(open, seq, ({ review_id: _, ...body }) => ({ ...body, outcome: "allow" }))

describe("a chain with reviews", () => {
  it("replays without a mismatch", async () => {
    const { replay, status } = await resealed(open)
    expect([status, replay!.mismatches, replay!.withheld]).toEqual([0, [], []])
  })

  it.each([
    ["approval_reused", () => presenting(who.used, 1)],
    ["approved_other_action", () => presenting(who.late)],
    ["expired_approval", () => presenting(who.late, 1)]
  ])("%s: an evaluation that its approval does not cover", async (verdict, seqOf) => {
    const seq = seqOf()
    const { replay, status } = await resealed(without(seq))
    expect([status, replay!.mismatches[0]]).toMatchObject([1, { seq, verdict }])
  })

  it("review_mismatch: a verdict without its review", async () => {
    const seq = open.records.findIndex(({ body }) => body["review_id"] === who.rejected)
    const hidden = await resealed(withBody(open, seq, ({ review_id: _, ...body }) => body))
    expect(hidden.replay!.mismatches[0]).toMatchObject({ seq, verdict: "review_mismatch" })
  })

  it("review_mismatch: a digest that does not match the arguments", async () => {
    const seq = presenting(who.late)
    await finds(seq, { action_digest: "0".repeat(64) }, "review_mismatch", /^The action_digest is not that of/)
    const redacted = await resealed(
      withBody(open, seq, (body) => ({ ...body, action_digest: "0".repeat(64), args_redacted: true }))
    )
    expect(redacted.replay!.mismatches.filter(({ reason }) => reason!.includes("action_digest"))).toEqual([])
  })

  it("self_approved: resolved by an author, by its requester or by a rule", async () => {
    const seq = at("review.resolved", who.rejected)
    await finds(seq, { writer: ann.id.startsWith("usr_") ? ann.id : host.id }, "self_approved", /is answered by/)
    await finds(seq, { writer: "system:other" }, "self_approved", /who is no person\.$/)
  })

  it("expired_approval: approved after its expiry", () =>
    finds(
      at("review.resolved", who.used),
      { resolved_at_ms: Number(open.records[at("review.opened", who.used)]!.body["expires_at_ms"]) },
      "expired_approval",
      /its end is \d+\.$/
    ))

  it("review_mismatch: weaker terms than the envelope's, another action, and a wrong count of approvals", async () => {
    const seqOpened = at("review.opened", who.used)
    const expires = Number(open.records[seqOpened]!.body["expires_at_ms"])
    await finds(seqOpened, { expires_at_ms: expires + 1 }, "review_mismatch", /another time, than the envelope\.$/)
    await finds(seqOpened, { action_digest: "0".repeat(64) }, "review_mismatch", /in the action\.$/)
    const seq = at("review.resolved", who.rejected)
    await finds(seq, { approvals_given: 1 }, "review_mismatch", /states another number of approvals than there are\.$/)
  })

  it("review_mismatch: withdrawn by another person, expired early, or consumed with another result", async () => {
    await finds(
      at("review.cancelled", who.withdrawn),
      { writer: carla.writer.id },
      "review_mismatch",
      /withdrawn, but not by/
    )
    await finds(at("review.expired", who.lapsed), { expires_at_ms: 1 }, "review_mismatch", /ends at another time\.$/)
    await finds(at("review.consumed", who.used), { result: "voided" }, "review_mismatch", /leaves it used\.$/)
  })

  it("review_mismatch: what a released halt ended goes on, or no halt ended it", async () => {
    const released = / was ended by kil_\w+, which is released\.$/
    await finds(at("review.resolved", who.after), { review_id: who.halted }, "review_mismatch", released)
    const seq = at("review.cancelled", who.halted)
    await finds(seq, { cause: "withdrawn", writer: host.id }, "review_mismatch", released)
    await finds(seq, { review_id: who.after }, "review_mismatch", /was resolved before\.$/)
    await finds(seq, { activation_id: `kil_${"0".repeat(25)}9` }, "review_mismatch", /no such halt reaches its agent/)
    const made = open.records.findIndex(({ body }) => body["review_id"] === who.after)
    await finds(made, { review_id: who.halted }, "review_mismatch", /the record names rev_/)
  })
})
