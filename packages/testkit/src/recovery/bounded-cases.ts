/** Recovery cases: bounds on agents stay the same across a recovery. Spec: decision 0010 of core. */
import { Capture, Evaluations, layerOf, type StorageChoice, storageChoice, systemHost } from "@flyball/core"
import { retirementOf } from "@flyball/core/storage"
import { Effect } from "effect"
import assert from "node:assert/strict"
import { bounded, refund, remade } from "./bounded-site.ts"
import { putBack, recovered, type RecoverySite, session, siteOf } from "./recovery-world.ts"
import type { RecoveryCase } from "./recovery-cases.ts"

const boundedCase = (name: string, check: (site: RecoverySite) => Effect.Effect<void, unknown>): RecoveryCase => ({
  name,
  run: (storage) => check(siteOf(storage))
})

const signed = (site: RecoverySite) => session(site, Effect.void)

/** Loses two records that were signed for, and recovers. */
const lostAndRecovered = Effect.fnUntraced(function* (site: RecoverySite) {
  yield* signed(site)
  putBack(site, 2)
  yield* recovered(site)
})

const said = (agentId: string, amount: number, run?: string) =>
  Effect.map(refund(agentId, amount, run === undefined ? {} : { run }), (one) => one.said)

const verdicts = (site: RecoverySite, withEarlier: boolean) =>
  Effect.map(remade(site, withEarlier), (all) => all.map(({ verdict }) => verdict))

const tagOf = <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<string, never, R> =>
  Effect.match(effect, { onFailure: (error) => error._tag, onSuccess: () => "success" })

/** The same store, beside which nothing was put aside any more. */
const without = (storage: StorageChoice): StorageChoice =>
  storageChoice(storage.backend, layerOf(storage), { ...retirementOf(storage)!, retired: Effect.succeed([]) })

/** The cases. */
export const boundedCases: ReadonlyArray<RecoveryCase> = [
  boundedCase(
    "meters, envelopes, waivers and latches keep their state after a recovery, and all evaluations are " +
      "recomputed from the records of both chains",
    Effect.fnUntraced(function* (site) {
      const { agentId } = yield* bounded(site)
      yield* lostAndRecovered(site)
      yield* session(
        site,
        Effect.gen(function* () {
          assert.equal(yield* said(agentId, 4_000), "allow by refund", "the waiver holds")
          assert.equal(yield* said(agentId, 2_500), "deny by cap", "4,000 of before and 4,000 of now")
          assert.equal(yield* said(agentId, 1_500, "run-2"), "deny by tainted")
          assert.equal(yield* said(agentId, 2_000), "allow by refund")
          assert.equal(yield* said(agentId, 1), "deny by cap")
        })
      )
      assert.equal(yield* session(site, said(agentId, 1)), "deny by cap", "for a process that starts later, too")
      assert.deepEqual([...new Set(yield* verdicts(site, true))], ["ok"])
      const alone = yield* verdicts(site, false)
      assert.deepEqual([alone.length, ...new Set(alone)], [6, "withheld"])
    })
  ),

  boundedCase(
    "meters keep their state after a second recovery",
    Effect.fnUntraced(function* (site) {
      const { agentId } = yield* bounded(site)
      yield* lostAndRecovered(site)
      assert.equal(yield* session(site, said(agentId, 3_000)), "allow by refund")
      yield* lostAndRecovered(site)
      yield* session(
        site,
        Effect.gen(function* () {
          assert.equal(yield* said(agentId, 3_001), "deny by cap")
          assert.equal(yield* said(agentId, 3_000), "allow by refund")
        })
      )
      assert.deepEqual(yield* verdicts(site, true), ["ok", "ok"])
    })
  ),

  boundedCase(
    "when the retired chain is missing, metered actions are not decided, and all others are",
    Effect.fnUntraced(function* (site) {
      const { agentId, searcherId } = yield* bounded(site)
      yield* lostAndRecovered(site)
      const alone = { ...site, storage: without(site.storage) }
      yield* session(
        alone,
        Effect.gen(function* () {
          const fault = yield* Effect.flip(refund(agentId, 1))
          assert.equal(fault._tag, "StorageUnavailable")
          assert.match(
            fault.message,
            new RegExp(
              /meters reach back into the chain flyball\.test\/recovery, whose \d+ records /.source +
                /a recovery retired, and they are not beside the store; restore them/.source
            )
          )
          assert.equal(yield* said(searcherId, 1), "allow by all")
        })
      )
      assert.equal(yield* session(site, said(agentId, 1)), "allow by refund")
    })
  ),

  boundedCase(
    "an evaluation of the previous chain can be neither settled nor voided, so its reservation stays counted",
    Effect.fnUntraced(function* (site) {
      const { agentId, evaluationId } = yield* bounded(site)
      yield* lostAndRecovered(site)
      yield* session(
        site,
        Effect.gen(function* () {
          assert.equal(
            yield* tagOf(Evaluations.use((evaluations) => evaluations.void(evaluationId, {}, systemHost))),
            "EvaluationNotFound"
          )
          const {
            receipts: [receipt]
          } = yield* Capture.use((capture) =>
            capture.witness(
              agentId,
              [
                {
                  client_ref: "paid",
                  kind: "tool_call",
                  action: "pay",
                  status: "intended",
                  step: 0,
                  args: {},
                  evaluation_id: evaluationId
                }
              ],
              systemHost
            )
          )
          const settle = (more: object) =>
            tagOf(Capture.use((capture) => capture.settle(receipt!.decision_id, { status: "ok", ...more }, systemHost)))
          assert.equal(yield* settle({ actual: [{ meter: "spent", amount: 0 }] }), "InvalidInput")
          assert.equal(yield* settle({}), "success")
          assert.equal(yield* said(agentId, 5_000), "deny by large")
          assert.equal(yield* said(agentId, 3_000), "allow by refund")
          assert.equal(yield* said(agentId, 3_001), "deny by cap")
        })
      )
    })
  )
]
