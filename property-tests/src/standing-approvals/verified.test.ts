/**
 * Evaluations that a standing approval let through replay from a pack, and are withheld where it is not disclosed. A
 * box that is wider than its review is found, though who holds the key sealed it.
 */
import { Agents, Evaluations, Reviews, StandingApprovals } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { canonicalBytes, toHex } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { openPack } from "@flyball/testkit"
import { Effect } from "effect"
import { Recomputation } from "../../../packages/rules/src/index.ts"
import { expect, it } from "vitest"
import {
  activeAgent,
  beginMs,
  ben,
  exported,
  host,
  inBoundedWorld,
  publish,
  refunds
} from "../replay-verdicts/bounded-world.ts"
import { asRead, changed, resealed, withPart } from "../replay-verdicts/changed-pack.ts"
import { replayed } from "../replay-verdicts/replayed.ts"

const reviewer = { id: `usr_${"0".repeat(25)}4` }

const life = Effect.gen(function* () {
  const agentId = yield* activeAgent("refund bot")
  const rules = [
    ...(refunds()["rules"] as ReadonlyArray<{ readonly id: string }>).filter(({ id }) => id !== "cap"),
    { id: "huge", outcome: "require_review", when: [{ signal: "amount", gt: 50_000 }] }
  ]
  yield* publish({ agent_id: agentId }, refunds({ rules, meters: {} }))
  yield* Agents.use((agents) => agents.update(agentId, { autonomy_tier: "L2" }, ben))
  const ask = (client_ref: string, amount: number) => {
    const args = { amount, to: "c-1" }
    const signals = { tool: "refund", amount, untrusted: false }
    return Evaluations.use((evaluations) =>
      evaluations.evaluate({ agent_id: agentId, client_ref, signals, action: "refund", args, run_id: "run" }, host)
    )
  }
  const { review_id: reviewId } = yield* ask("first", 5_000)
  yield* Reviews.use((reviews) =>
    reviews.resolve(
      reviewId!,
      { resolution: "approve", reason: "Seen." },
      { writer: reviewer, grants: "any", email: null }
    )
  )
  const approvals = yield* StandingApprovals
  const { id } = yield* approvals.propose(
    {
      review_id: reviewId!,
      pins: [
        { path: "/signals/amount", at_most: 6_000 },
        { path: "/args/to", eq: "c-1" }
      ],
      count: 2,
      expires_at: new Date(beginMs + 3_600_000).toISOString(),
      reason: "Refunds of one customer"
    },
    reviewer
  )
  yield* approvals.grant(id, ben)
  const outcomes = [yield* ask("second", 6_000), yield* ask("third", 5_500), yield* ask("fourth", 5_500)].map(
    ({ outcome }) => outcome
  )
  const { seq: proposedAt } = (yield* (yield* Storage).records({
    limit: 1,
    kinds: ["standing_approval.proposed"]
  }))[0]!
  return {
    id,
    outcomes,
    proposedAt,
    range: yield* exported({ kind: "range", from: proposedAt, to: proposedAt }),
    all: yield* exported({ kind: "full" }),
    withoutBox: yield* exported({
      kind: "full",
      disclose: ["action", "advice", "args", "envelope", "owner", "profile", "signals"]
    }),
    withoutArgs: yield* exported({
      kind: "full",
      disclose: ["action", "advice", "box", "envelope", "owner", "profile", "signals"]
    })
  }
})

it("a standing approval replays with its parts, and is withheld without them", { timeout: 60_000 }, async () => {
  const { all, outcomes, withoutArgs, withoutBox } = await inBoundedWorld(life)
  expect(outcomes).toEqual(["allow", "allow", "require_review"])
  const whole = await replayed(all.pack, all.vkey)
  expect({ status: whole.status, verdicts: whole.replay!.verdicts, mismatches: whole.replay!.mismatches }).toEqual({
    status: 0,
    verdicts: { ok: 4 },
    mismatches: []
  })
  for (const { pack, vkey } of [withoutBox, withoutArgs])
    // The proposal, and two uses.
    expect((await replayed(pack, vkey)).replay!.verdicts).toEqual({ ok: 2, withheld: 3 })
})

it("replay reports a box that is wider than its review, and nothing when the review is not disclosed", async () => {
  const { all, id, proposedAt, range } = await inBoundedWorld(life)
  const open = openPack(all.pack)
  const wide = canonicalBytes({
    action: "refund",
    args: ["amount", "to"],
    pins: [{ path: "/signals/amount", at_most: 50_001 }]
  })
  const widened = changed(open, proposedAt, (record) =>
    withPart({ ...record, body: { ...record.body, box_digest: toHex(nodeCrypto.sha256(wide)) } }, "box", wide)
  )
  const accused = await resealed(widened)
  expect({ findings: accused.findings, integrity: accused.integrity, status: accused.status }).toEqual({
    findings: [],
    integrity: "ok",
    status: 1
  })
  expect(accused.replay!.mismatches).toMatchObject([
    {
      seq: proposedAt,
      verdict: "standing_approval_too_wide",
      reason: expect.stringContaining(`The box of ${id} holds`)
    }
  ])
  expect(accused.text).toContain("The box of the standing approval is wider than the review that it is made from.")
  const reviewedAt = open.records.findIndex(({ kind }) => kind === "evaluation.made")
  const undisclosed = await resealed(changed(widened, reviewedAt, (record) => withPart(record, "args", null)))
  expect(undisclosed.replay!.mismatches).toEqual([])
  expect(undisclosed.replay!.withheld.filter(({ seq }) => seq === proposedAt)).toHaveLength(1)
  const alone = await replayed(range.pack, range.vkey)
  expect([alone.replay!.mismatches, alone.replay!.verdicts]).toEqual([[], { withheld: 1 }])
})

it("replay proves boxes until its work is spent, and says of each further one that it was not proved", async () => {
  const { all, proposedAt } = await inBoundedWorld(life)
  const records = asRead(openPack(all.pack)).slice(0, proposedAt + 1)
  // A pack that is made to waste time: one proposal, again and again.
  const again = Array.from({ length: 50 }, (_, place) => {
    const { body, ...rest } = records[proposedAt]!
    const other = `sap_${String(place).padStart(26, "0")}`
    return { ...rest, seq: proposedAt + 1 + place, body: { ...body, standing_approval_id: other } }
  })
  const openIn = (maxProofWork?: number) => {
    const recomputation = new Recomputation({
      fromGenesis: true,
      crypto: nodeCrypto,
      ...(maxProofWork === undefined ? {} : { maxProofWork })
    })
    return [...records, ...again].flatMap((record) => {
      const found = recomputation.take(record)
      return found === null || found.verdict === "ok" ? [] : [[found.verdict, found.because]]
    })
  }
  expect(openIn()).toEqual([])
  const unproved = openIn(60)
  expect(unproved.length).toBeGreaterThan(10)
  expect(unproved.length).toBeLessThan(51)
  expect(unproved.every(([verdict, because]) => verdict === "withheld" && because === "budget")).toBe(true)
  expect(openIn(0)).toHaveLength(51)
})
