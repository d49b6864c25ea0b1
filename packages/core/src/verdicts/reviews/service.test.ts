/** Reviews as people and agents use them. */
import { assert, describe, it } from "@effect/vitest"
import { canonicalBytes, portableCrypto, toHex } from "@flyball/evidence"
import { Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Principals } from "../../registry/principals/service.ts"
import { StorageUnavailable } from "../../storage/faults.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { Envelopes } from "../envelopes/service.ts"
import { Evaluations } from "../evaluations/service.ts"
import { ann, ask as evaluate, ben, governedAgent, key, recomputed, refunds } from "../evaluations/testing/refunds.ts"
import { Drills } from "../drills/service.ts"
import { Kill } from "../kill/service.ts"
import { type ReviewingPerson, Reviews } from "./service.ts"

const cyn: ReviewingPerson = { writer: { id: `usr_${"0".repeat(25)}4` }, grants: "any", email: null }
const dan: ReviewingPerson = { writer: { id: `usr_${"0".repeat(25)}5` }, grants: "any", email: null }
const large = { tool: "refund", amount: 5_000 }

/** Asks for leave, with the signals as arguments. */
const ask = (
  agentId: string,
  signals: { readonly [name: string]: unknown },
  more: Parameters<typeof evaluate>[2] = {}
) => evaluate(agentId, signals, { args: signals, ...more })

let others = 0
/** Another refund: the same would be the same review. */
const another = () => ({ ...large, amount: 2_500 + ++others })

const HOUR_MS = 3_600_000
const world = () => Effect.provide(governorWorld())
const resolve = (id: string, resolution: "approve" | "reject" | "amend" = "approve", person = cyn) =>
  Reviews.use((reviews) => reviews.resolve(id, { resolution, reason: "seen" }, person))
const kinds = Effect.gen(function* () {
  const records = yield* (yield* Storage).records({ limit: 1_000 })
  return records.map(({ kind }) => kind)
})
const code = (exit: Exit.Exit<unknown, { readonly _tag: string }>): string =>
  Exit.isFailure(exit)
    ? JSON.stringify(exit.cause)
        .match(/"_tag":"([A-Z]\w+(?:[a-z]))"/g)!
        .at(-1)!
    : "success"

/** Everything that replay says against the store: nothing, or the test fails with it. */
const agrees = Effect.gen(function* () {
  const report = yield* (yield* Replay).check
  assert.deepStrictEqual(report.differences, [])
  assert.deepStrictEqual(
    (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
    []
  )
})

describe("a review", () => {
  it.effect("opens with the evaluation that needs it, and its approval counts once for the same action", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const made = yield* ask(agentId, large, { action: "refund" })
      assert.deepInclude(made, { outcome: "require_review", review_id: `rev_${made.id.slice(4)}` })
      const reviews = yield* Reviews
      assert.deepInclude(yield* reviews.get(made.review_id!), {
        status: "open",
        action: "refund",
        matched_rule: "large",
        approvals_needed: 1,
        requested_by: key.id
      })
      assert.deepInclude(yield* resolve(made.review_id!), { status: "resolved", resolution: "approve" })
      const approved = yield* ask(agentId, large, { action: "refund", approval_id: made.review_id! })
      assert.deepInclude(approved, { outcome: "allow", matched_rule: "large", review_id: null })
      assert.deepInclude(yield* reviews.get(made.review_id!), {
        consumed_by: approved.id,
        consumed_result: "used"
      })
      const again = yield* ask(agentId, large, { action: "refund", approval_id: made.review_id! })
      assert.deepInclude(again, { outcome: "require_review", review_id: `rev_${again.id.slice(4)}` })
      yield* agrees
    }).pipe(world())
  )

  it.effect("counts for no other arguments, and names the open one again", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const made = yield* ask(agentId, large)
      const open = yield* ask(agentId, large, { approval_id: made.review_id! })
      assert.deepInclude(open, { outcome: "require_review", review_id: made.review_id })
      yield* resolve(made.review_id!)
      const other = yield* ask(agentId, { ...large, amount: 5_001 }, { approval_id: made.review_id! })
      assert.deepInclude(other, { outcome: "require_review", review_id: `rev_${other.id.slice(4)}` })
      assert.deepInclude(yield* ask(agentId, large, { approval_id: made.review_id! }), { outcome: "allow" })
      yield* agrees
    }).pipe(world())
  )

  it.effect("is answered by no requester and no author of the envelope, and by no key", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const { review_id: id } = yield* ask(agentId, large)
      const before = (yield* kinds).length
      for (const writer of [ann, key])
        assert.include(
          code(yield* Effect.exit(resolve(id!, "approve", { ...cyn, writer }))),
          "ReviewerNotEligible",
          writer.id
        )
      assert.include(
        code(yield* Effect.exit(resolve(id!, "approve", { ...cyn, grants: [{ role: "reviewer", orgUnit: "*" }] }))),
        "ReviewerNotEligible"
      )
      assert.strictEqual((yield* kinds).length, before)
    }).pipe(world())
  )

  it.effect("needs different people where the envelope says how many", () =>
    Effect.gen(function* () {
      const rules = (refunds()["rules"] as ReadonlyArray<{ readonly id: string }>).map((rule) =>
        rule.id === "large"
          ? {
              ...rule,
              obligations: [
                { type: "reviewers", role: "operator", approvals: 1, ttl_ms: 60_000 },
                { type: "reviewers", role: "reviewer", approvals: 2, ttl_ms: 90_000 },
                { type: "two_person" }
              ]
            }
          : rule
      )
      const { agentId } = yield* governedAgent(refunds({ rules }))
      const made = yield* ask(agentId, large)
      const id = made.review_id!
      const reviews = yield* Reviews
      const of = (person: ReviewingPerson, role: string): ReviewingPerson => ({
        ...person,
        grants: [{ role, orgUnit: "*" }]
      })
      assert.deepInclude(yield* resolve(id, "approve", of(cyn, "reviewer")), { status: "open", approvals_given: 1 })
      assert.include(code(yield* Effect.exit(resolve(id, "approve", of(cyn, "reviewer")))), "ReviewerNotEligible")
      assert.include(code(yield* Effect.exit(resolve(id, "approve", of(dan, "auditor")))), "ReviewerNotEligible")
      assert.deepInclude(yield* ask(agentId, large, { approval_id: id }), { outcome: "require_review", review_id: id })
      assert.deepInclude(yield* resolve(id, "approve", of(dan, "governor")), { status: "resolved" })
      assert.deepInclude(yield* reviews.get(id), { approvals_given: 2, two_person: true })
      yield* agrees
    }).pipe(world())
  )

  it.effect("is over when its time is, whether a job noted that or not", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const [first, second, third] = [
        yield* ask(agentId, another()),
        yield* ask(agentId, another()),
        yield* ask(agentId, large)
      ]
      const reviews = yield* Reviews
      yield* resolve(third.review_id!)
      yield* TestClock.adjust(3_600_000)
      assert.deepInclude(yield* reviews.get(first.review_id!), { status: "expired", resolution: null })
      assert.include(code(yield* Effect.exit(resolve(first.review_id!))), "ReviewClosed")
      assert.strictEqual(yield* reviews.sweep, 1)
      assert.deepInclude(yield* reviews.get(second.review_id!), { status: "expired", resolution: null })
      assert.deepInclude(yield* ask(agentId, large, { approval_id: third.review_id! }), { outcome: "require_review" })
      yield* agrees
    }).pipe(world())
  )

  it.effect("says why to everybody who may read it, as a suspension does, until that is erased", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const { review_id: id } = yield* ask(agentId, large)
      const [agents, erasure, reviews, storage] = [yield* Agents, yield* Erasure, yield* Reviews, yield* Storage]
      for (const resolution of ["reject", "amend"] as const)
        assert.include(code(yield* Effect.exit(reviews.resolve(id!, { resolution }, cyn))), "InvalidInput")
      yield* resolve(id!, "reject")
      yield* agents.suspend(agentId, { reason: "Pays twice." }, ben)
      const read = Effect.gen(function* () {
        const review = yield* reviews.get(id!, { orgUnits: "*" }, key.id)
        return [review.reason, (yield* agents.get(agentId)).suspension_reason]
      })
      assert.deepStrictEqual(yield* read, ["seen", "Pays twice."])
      yield* agrees
      for (const { seq } of yield* storage.records({ kinds: ["review.resolved", "agent.suspended"], limit: 9 }))
        yield* erasure.erase({ seq, name: "reason", reason: "legal_order" }, ben)
      assert.deepStrictEqual(yield* read, [null, null])
      yield* agrees
      assert.isNull((yield* agents.activate(agentId, ben)).suspension_reason)
    }).pipe(world())
  )

  it.effect("belongs to who claimed it until the lease ends", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const { review_id: id } = yield* ask(agentId, large)
      const reviews = yield* Reviews
      const claimed = yield* reviews.claim(id!, { give_back: false }, cyn)
      assert.deepInclude(claimed, { status: "claimed", claimed_by: cyn.writer.id })
      assert.include(code(yield* Effect.exit(resolve(id!, "approve", dan))), "ReviewClaimed")
      assert.deepInclude(yield* reviews.claim(id!, { give_back: true }, cyn), { status: "open", claimed_by: null })
      yield* reviews.claim(id!, { give_back: false }, cyn)
      yield* TestClock.adjust(900_000)
      assert.deepInclude(yield* resolve(id!, "amend", dan), { status: "resolved", resolution: "amend" })
      yield* agrees
    }).pipe(world())
  )

  it.effect("is cancelled by a halt, by another version, and by its requester", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent()
      const reviews = yield* Reviews
      const withdrawn = yield* ask(agentId, large)
      assert.deepInclude(yield* reviews.withdraw(withdrawn.review_id!, {}, key), {
        status: "cancelled",
        cancel_cause: "withdrawn"
      })
      const killed = yield* ask(agentId, large)
      const halt = yield* (yield* Kill).activate(
        { target_type: "agent", target_id: agentId, response: "halt", reason: "stop" },
        ann
      )
      assert.deepInclude(yield* reviews.get(killed.review_id!), { status: "cancelled", cancel_cause: "killed" })
      assert.include(code(yield* Effect.exit(resolve(killed.review_id!))), "ReviewClosed")
      yield* (yield* Kill).release({ activation_event: halt.activation_event!, reason: "go" }, ben)
      const superseded = yield* ask(agentId, another())
      const kept = yield* ask(agentId, large)
      yield* resolve(kept.review_id!)
      const envelopes = yield* Envelopes
      yield* envelopes.update(envelopeId, { envelope: refunds({}, 9_000) }, ann)
      yield* envelopes.publish(envelopeId, {}, ben)
      assert.strictEqual(yield* reviews.sweep, 1)
      assert.deepInclude(yield* reviews.get(superseded.review_id!), { cancel_cause: "superseded" })
      const voided = yield* ask(agentId, large, { approval_id: kept.review_id! })
      assert.deepInclude(voided, { outcome: "require_review", review_id: `rev_${voided.id.slice(4)}` })
      assert.deepInclude(yield* reviews.get(kept.review_id!), { consumed_by: voided.id, consumed_result: "voided" })
      yield* agrees
    }).pipe(world())
  )

  it.effect("is cancelled by a halt that is lifted before anybody noticed", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const kill = yield* Kill
      const made = yield* ask(agentId, large)
      const lifted = Effect.fnUntraced(function* (response: "drain" | "halt", drill = false) {
        const target = { target_type: "agent", target_id: agentId, reason: "stop" } as const
        const { activation_event: id } = drill
          ? yield* Drills.use((drills) =>
              drills.start(
                { target_type: "agent", target_id: agentId, mode: "shadow", scenario: "A drill.", slo_ms: 1_000 },
                ann
              )
            )
          : yield* kill.activate({ ...target, response }, ann)
        yield* kill.release({ activation_event: id!, reason: "go" }, ben)
        return (yield* (yield* Reviews).get(made.review_id!)).status
      })
      assert.deepStrictEqual([yield* lifted("drain"), yield* lifted("halt", true)], ["open", "open"])
      assert.strictEqual(yield* lifted("halt"), "cancelled")
      assert.include(code(yield* Effect.exit(resolve(made.review_id!))), "ReviewClosed")
      yield* agrees
    }).pipe(world())
  )

  it.effect("is voided by what is stricter when it is consumed", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const made = yield* ask(agentId, large)
      yield* resolve(made.review_id!)
      for (let spent = 0; spent < 3; spent++) yield* ask(agentId, { ...large, amount: 2_000 })
      const denied = yield* ask(agentId, large, { approval_id: made.review_id! })
      assert.deepInclude(denied, { outcome: "deny", matched_rule: "cap" })
      assert.deepInclude(yield* (yield* Reviews).get(made.review_id!), { consumed_result: "voided" })
      yield* agrees
    }).pipe(world())
  )

  it.effect("shows a reviewer the arguments and what differs from the last approval, and records that", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const args = { amount: 5_000, to: { name: "Ada" } }
      const first = yield* ask(agentId, large, { action: "refund", args })
      yield* resolve(first.review_id!)
      const { review_id: id } = yield* ask(agentId, large, { action: "refund", args: { ...args, to: { name: "Bob" } } })
      const reviews = yield* Reviews
      const shown = yield* reviews.detail(id!, cyn.writer)
      assert.deepInclude(shown, {
        withheld: false,
        args: { ...args, to: { name: "Bob" } },
        compared_with: first.review_id,
        differences: [{ path: "/to/name", before: "Ada", now: "Bob" }],
        expires_in_ms: 3_600_000
      })
      assert.strictEqual(shown.explanation?.nearest?.changes[0]?.signal, "amount")
      const read = JSON.parse(JSON.stringify(shown)) as typeof shown
      const presented = {
        id: read.id,
        evaluation_id: read.evaluation_id,
        action: read.action,
        action_digest: read.action_digest,
        args: read.args,
        args_redacted: read.args_redacted,
        signals: read.signals,
        matched_rule: read.matched_rule,
        rule_reason: read.rule_reason,
        explanation: read.explanation,
        compared_with: read.compared_with,
        differences: read.differences,
        differences_omitted: read.differences_omitted
      }
      assert.strictEqual(
        shown.presented_digest,
        `sha256:${toHex(portableCrypto.sha256(canonicalBytes(presented)))}`,
        "who has the answer can prove what this person saw"
      )
      yield* reviews.detail(id!, cyn.writer)
      assert.strictEqual((yield* kinds).filter((kind) => kind === "review.presented").length, 1)
      assert.deepInclude(yield* reviews.detail(id!, null), { withheld: true, args: null, signals: null })
      yield* agrees
    }).pipe(world())
  )

  it.effect("shows what differs from the last approval only, and counts what it does not list", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const reviews = yield* Reviews
      const many = (value: number) => Object.fromEntries(Array.from({ length: 130 }, (_, at) => [`m${at}`, value]))
      const first = yield* ask(agentId, large, { action: "refund", args: many(1) })
      yield* resolve(first.review_id!)
      const second = yield* ask(agentId, large, { action: "refund", args: { ...many(2), constructor: "x" } })
      const shown = yield* reviews.detail(second.review_id!, cyn.writer)
      assert.deepInclude(shown, { compared_with: first.review_id, differences_omitted: 31 })
      assert.deepStrictEqual(shown.differences![0], { path: "/constructor", before: null, now: "x" })
      yield* resolve(second.review_id!)
      // The arguments of the last one are not here: an earlier one is no stand-in.
      const third = yield* evaluate(agentId, large, { action: "refund", action_digest: `sha256:${"1".repeat(64)}` })
      yield* resolve(third.review_id!)
      const fourth = yield* ask(agentId, large, { action: "refund", args: many(3) })
      assert.deepInclude(yield* reviews.detail(fourth.review_id!, cyn.writer), {
        compared_with: third.review_id,
        differences: null,
        differences_omitted: 0
      })
      const other = yield* ask(agentId, large, { action: "pay", args: many(3) })
      assert.deepInclude(yield* reviews.detail(other.review_id!, cyn.writer), {
        compared_with: null,
        differences: null
      })
    }).pipe(world())
  )

  it.effect("counts no second approval of a person who may be one that was erased since", () =>
    Effect.gen(function* () {
      const person = (subject: string) =>
        Principals.use((principals) => principals.writerFor("https://idp.example", subject))
      const rules = (refunds()["rules"] as ReadonlyArray<{ readonly id: string }>).map((rule) =>
        rule.id === "large" ? { ...rule, obligations: [{ type: "two_person" }] } : rule
      )
      const { agentId } = yield* governedAgent(refunds({ rules }))
      const { review_id: id } = yield* ask(agentId, large)
      const bo = yield* person("bo")
      const eve = yield* person("eve")
      yield* resolve(id!, "approve", { ...cyn, writer: eve })
      const [seen] = yield* Storage.use((storage) =>
        storage.records({ kinds: ["principal.seen"], order: "desc", limit: 1 })
      )
      yield* Erasure.use((erasure) =>
        erasure.erase({ seq: seen!.seq, name: "identity", reason: "subject_request" }, ann)
      )
      const again = yield* person("eve")
      assert.notStrictEqual(again.id, eve.id)
      const refused = yield* Effect.flip(resolve(id!, "approve", { ...cyn, writer: again }))
      assert.deepInclude(refused, { _tag: "ReviewerNotEligible", why: "answered_before" })
      assert.match(String((refused as { readonly sentence?: string }).sentence), /may be the same one/)
      assert.deepInclude(yield* resolve(id!, "approve", { ...cyn, writer: bo }), { status: "resolved" })
      yield* agrees
    }).pipe(world())
  )

  it.effect("is given back by who has it only", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const { review_id: id } = yield* ask(agentId, large)
      const reviews = yield* Reviews
      const before = (yield* kinds).length
      assert.deepInclude(yield* reviews.claim(id!, { give_back: true }, cyn), { status: "open", claimed_by: null })
      assert.strictEqual((yield* kinds).length, before, "nothing was given back")
      yield* reviews.claim(id!, { give_back: false }, cyn)
      assert.include(code(yield* Effect.exit(reviews.claim(id!, { give_back: true }, dan))), "ReviewClaimed")
      yield* TestClock.adjust(900_000)
      yield* reviews.claim(id!, { give_back: true }, cyn)
      assert.strictEqual((yield* kinds).length, before + 1, "the lease was over")
    }).pipe(world())
  )

  it.effect("costs little while it waits: those who wait and the job share what they read", () => {
    let reads = 0
    const counted = <A extends ReadonlyArray<unknown>, R>(of: (...args: A) => R) => {
      return (...args: A): R => {
        reads++
        return of(...args)
      }
    }
    const storage = (below: StorageApi): StorageApi => ({
      ...below,
      get: counted(below.get),
      find: counted(below.find),
      once: counted(below.once),
      records: counted(below.records)
    })
    return Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const reviews = yield* Reviews
      const ids: Array<string> = []
      for (let count = 0; count < 40; count++) ids.push((yield* ask(agentId, another())).review_id!)
      reads = 0
      assert.strictEqual(yield* reviews.sweep, 0)
      assert.isBelow(reads, 20, "reads of a sweep")
      const waiting = yield* Effect.forkChild(
        Effect.all(
          ids.map((id) => reviews.wait(id, 20_000)),
          { concurrency: "unbounded" }
        )
      )
      yield* TestClock.adjust(0)
      reads = 0
      yield* TestClock.adjust(10_000)
      // Each polls once a second, 40 search for changes together.
      assert.isBelow(reads, 40 * 10 * 8, "reads of 40 who wait ten seconds")
      for (const id of ids) yield* resolve(id, "reject")
      yield* TestClock.adjust(250)
      assert.isTrue((yield* Fiber.join(waiting)).every(({ status }) => status === "resolved"))
    }).pipe(Effect.provide(governorWorld(storage)))
  })

  it.effect("is no answer when the time of who waits is over", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const { review_id: id } = yield* ask(agentId, large)
      const reviews = yield* Reviews
      const waited = (waitMs: number) => Effect.forkChild(reviews.wait(id!, waitMs))
      const short = yield* waited(25_000)
      const long = yield* waited(7_200_000)
      const before = yield* kinds
      yield* TestClock.adjust(25_000)
      assert.deepInclude(yield* Fiber.join(short), { status: "open", resolution: null })
      assert.deepStrictEqual(yield* kinds, before)
      // The end of its time ends the wait, though no job recorded it yet.
      yield* TestClock.adjust(3_600_000)
      assert.deepInclude(yield* Fiber.join(long), { status: "expired", resolution: null })
      assert.deepStrictEqual(yield* kinds, before)
    }).pipe(world())
  )

  it.effect("keeps its approval where the store fails, and loses it once where only the answer was lost", () => {
    let failing: "before" | "behind" | null = null
    const storage = (below: StorageApi): StorageApi => ({
      ...below,
      commit: (change) => {
        const at = failing
        if (at === null || change.records?.some(({ kind }) => kind === "review.consumed") !== true)
          return below.commit(change)
        failing = null
        const fails = new StorageUnavailable({ reason: "gone", wrote: at === "before" ? "no" : "unknown" })
        return at === "before" ? Effect.fail(fails) : Effect.andThen(below.commit(change), Effect.fail(fails))
      }
    })
    return Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const reviews = yield* Reviews
      const { review_id: id } = yield* ask(agentId, large)
      yield* resolve(id!)
      const presented = (client_ref: string) => ask(agentId, large, { approval_id: id!, client_ref })
      const before = yield* kinds
      failing = "before"
      assert.strictEqual((yield* Effect.flip(presented("lost")))._tag, "StorageUnavailable")
      assert.deepStrictEqual(yield* kinds, before)
      assert.deepInclude(yield* reviews.get(id!), { consumed_by: null, consumed_result: null })
      failing = "behind"
      assert.strictEqual((yield* Effect.flip(presented("landed")))._tag, "StorageUnavailable")
      const landed = yield* presented("landed")
      assert.deepInclude(landed, { outcome: "allow", review_id: null })
      assert.deepInclude(yield* reviews.get(id!), { consumed_by: landed.id, consumed_result: "used" })
      assert.deepInclude(yield* presented("lost"), { outcome: "require_review" })
      yield* agrees
    }).pipe(Effect.provide(governorWorld(storage)))
  })

  it.effect("is cancelled once by a halt that is released meanwhile", () => {
    let meanwhile: Effect.Effect<unknown, unknown> | null = null
    const storage = (below: StorageApi): StorageApi => ({
      ...below,
      commit: (change) => {
        const act = meanwhile
        if (act === null || change.records?.some(({ kind }) => kind === "review.cancelled") !== true)
          return below.commit(change)
        meanwhile = null
        // The release waits for this commit: it ends what the halt reached before it lifts that.
        return Effect.andThen(Effect.forkDetach(Effect.orDie(act)), below.commit(change))
      }
    })
    return Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const kill = yield* Kill
      const reviews = yield* Reviews
      const halted = (id: string) =>
        kill.activate({ target_type: "agent", target_id: id, response: "halt", reason: "stop" }, ann)
      const released = (halt: { readonly activation_event: string | null }) =>
        kill.release({ activation_event: halt.activation_event!, reason: "go" }, ben)
      for (const end of [Effect.asVoid(reviews.sweep), null]) {
        const { review_id: id } = yield* ask(agentId, large)
        const halt = yield* halted(agentId)
        meanwhile = released(halt)
        if (end === null) assert.include(code(yield* Effect.exit(resolve(id!))), "ReviewClosed")
        else yield* end
        yield* Effect.ignore(released(halt))
        assert.deepInclude(yield* reviews.get(id!), { status: "cancelled", cancel_cause: "killed" })
      }
      yield* agrees
    }).pipe(Effect.provide(governorWorld(storage)))
  })

  it.effect(
    "has one winner where two people answer at once, and one use where two evaluations present it at once",
    () =>
      Effect.gen(function* () {
        const { agentId } = yield* governedAgent()
        const { review_id: id } = yield* ask(agentId, large)
        const answers = yield* Effect.all(
          [Effect.exit(resolve(id!, "approve", cyn)), Effect.exit(resolve(id!, "approve", dan))],
          { concurrency: "unbounded" }
        )
        assert.lengthOf(answers.filter(Exit.isSuccess), 1)
        const made = yield* Effect.all(
          [1, 2, 3].map(() => ask(agentId, large, { approval_id: id! })),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(made.map(({ outcome }) => outcome).sort(), ["allow", "require_review", "require_review"])
        yield* agrees
      }).pipe(world())
  )

  it.effect("lists by where it stands, newest first", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const ids = [yield* ask(agentId, large), yield* ask(agentId, another()), yield* ask(agentId, another())].map(
        ({ review_id }) => review_id!
      )
      yield* resolve(ids[1]!, "reject")
      const reviews = yield* Reviews
      const listed = (query: Parameters<typeof reviews.list>[0], own: string | null = null) =>
        Effect.map(reviews.list(query, { orgUnits: "*" }, own), (all) => all.map(({ id }) => id))
      assert.deepStrictEqual(yield* listed({ limit: 2 }), [ids[2]!, ids[1]!])
      assert.deepStrictEqual(yield* listed({ limit: 9, status: "open" }), [ids[2]!, ids[0]!])
      assert.deepStrictEqual(yield* listed({ limit: 9, status: "resolved" }), [ids[1]!])
      const { seq } = yield* reviews.get(ids[2]!)
      assert.deepStrictEqual(yield* listed({ limit: 9, before: seq, status: "open" }), [ids[0]!])
      assert.deepStrictEqual(yield* listed({ limit: 9 }, "key_nobody"), [])
      assert.deepStrictEqual(yield* reviews.list({ limit: 9 }, { orgUnits: ["elsewhere"] }), [])
    }).pipe(world())
  )

  it.effect("are listed by status without reading more than the documents of those that are not shown", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const ids: Array<string> = []
      for (let amount = 1; amount <= 5; amount++)
        ids.push((yield* ask(agentId, { ...large, amount: 5_000 + amount })).review_id!)
      yield* resolve(ids[2]!)
      const storage = yield* Storage
      let read = 0
      const counted = Storage.of({ ...storage, parts: (seqs) => ((read += seqs.length), storage.parts(seqs)) })
      const reviews = yield* Reviews.pipe(
        Effect.provide(Layer.fresh(Reviews.layer)),
        Effect.provideService(Storage, counted)
      )
      assert.deepStrictEqual(
        (yield* reviews.list({ status: "resolved" })).map(({ id }) => id),
        [ids[2]]
      )
      assert.strictEqual(read, 1)
    }).pipe(world(), Effect.scoped)
  )

  it.effect("that a commit reaches only at its end is over, however long before it the commit began", () => {
    let hangs: { readonly kind: string; readonly ms: number } | null = null
    const hanging = (below: StorageApi): StorageApi => ({
      ...below,
      commit: (change) =>
        Effect.suspend(() => {
          const { kind } = hangs ?? { kind: "" }
          if (hangs === null || !change.records?.some((record) => record.kind === kind)) return below.commit(change)
          const { ms } = hangs
          hangs = null
          return Effect.andThen(TestClock.adjust(ms), below.commit(change))
        })
    })
    return Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const reviews = yield* Reviews
      for (const [kind, act] of [
        ["review.resolved", (id: string) => resolve(id)],
        ["review.claimed", (id: string) => reviews.claim(id, { give_back: false }, cyn)],
        ["review.cancelled", (id: string) => reviews.withdraw(id, {}, key)]
      ] as const) {
        const hung = Effect.fnUntraced(function* (ms: number) {
          const { review_id: id } = yield* ask(agentId, another())
          // The envelope gives a review an hour.
          yield* TestClock.adjust(HOUR_MS - 1_000)
          hangs = { kind, ms }
          return { id: id!, exit: yield* Effect.exit(act(id!)) }
        })
        assert.strictEqual((yield* hung(999)).exit._tag, "Success", kind)
        const { exit, id } = yield* hung(1_000)
        assert.strictEqual(code(exit), '"_tag":"ReviewClosed"', kind)
        assert.deepInclude(yield* reviews.get(id), { status: "expired", approvals_given: 0 })
      }
      // The same of an approval that is presented.
      const presented = Effect.fnUntraced(function* (ms: number) {
        const wanted = another()
        const { review_id: id } = yield* ask(agentId, wanted)
        yield* resolve(id!)
        yield* TestClock.adjust(HOUR_MS - 1_000)
        hangs = { kind: "review.consumed", ms }
        return (yield* ask(agentId, wanted, { approval_id: id! })).outcome
      })
      assert.deepStrictEqual([yield* presented(999), yield* presented(1_000)], ["allow", "require_review"])
      yield* agrees
    }).pipe(Effect.provide(governorWorld(hanging)))
  })
})

describe("an evaluation that needs a review", () => {
  it.effect("is refused where nothing says what would be approved, and leaves no record", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const before = (yield* kinds).length
      const exit = yield* Effect.exit(
        Evaluations.use((evaluations) =>
          evaluations.evaluate({ agent_id: agentId, client_ref: "x", signals: large }, key)
        )
      )
      assert.include(JSON.stringify(exit), "an approval is bound to its arguments")
      assert.strictEqual((yield* kinds).length, before)
    }).pipe(world())
  )

  it.effect("takes arguments that agree with their digest", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const evaluations = yield* Evaluations
      const of = (more: object) =>
        evaluations.evaluate({ agent_id: agentId, client_ref: "x", signals: large, ...more }, key)
      const digest = `sha256:${"0".repeat(64)}`
      assert.include(code(yield* Effect.exit(of({ args: large, action_digest: digest }))), "InvalidInput")
      assert.include(code(yield* Effect.exit(of({ args: large, args_redacted: true }))), "InvalidInput")
      const redacted = yield* of({ args: large, args_redacted: true, action_digest: digest })
      assert.strictEqual(redacted.action_digest, digest)
      assert.isTrue((yield* (yield* Reviews).get(redacted.review_id!)).args_redacted)
    }).pipe(world())
  )
})
