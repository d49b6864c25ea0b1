/**
 * Calls of models that are under way: opened with the tokens that they may take, closed with the tokens that they took
 * and the decisions that were witnessed, in one commit. Spec: document 2 section 8; platform sections 5 and 8.
 */
import type { DecisionIn } from "@flyball/contract"
import {
  beside,
  Capture,
  GATEWAY_WRITER,
  newId,
  quotaExceeded,
  type QuotaReservation,
  Quotas,
  type QuotaUse
} from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { costMicroUsd, type ModelDocument, MODELS } from "@flyball/rules"
import { Effect } from "effect"
import type { Reported } from "./codec.ts"

/** How a call ended. `lost`: its process ended in its midst. */
export type CallEnd = "finished" | "client_gone" | "upstream_error" | "halted" | "lost"

/** The facts of a call when it begins. */
export interface CallFacts {
  readonly agentId: string
  readonly caller: string
  readonly form: string
  /** Name of the model as it was requested, and its id in the registry; null for none. */
  readonly model: string
  readonly modelId: string | null
  /** Tokens of the request, as they are estimated. */
  readonly inputEstimate: number
}

/** A call that is under way. */
export interface OpenCall extends CallFacts {
  readonly id: string
  readonly reservation: QuotaReservation
  /** Unit: milliseconds since 1970 UTC. */
  readonly startedMs: number
}

/** A tool call of the model, and what came of it. */
export interface JudgedTool {
  readonly name: string
  readonly isRefused: boolean
  readonly evaluationId: string | null
  readonly approvalId: string | null
}

/** The outcome of a call. */
export interface CallOutcome {
  readonly end: CallEnd
  readonly upstreamStatus: number | null
  /** Null where the upstream has used nothing. */
  readonly usage: Reported | null
  /** Tokens of the answer, as they are estimated. */
  readonly outputEstimate: number
  readonly tools: ReadonlyArray<JudgedTool>
}

const CALLS = "gateway_calls"
/** When a reservation lapses that nobody settled: longer than any answer takes. Unit: milliseconds. */
const RESERVED_MS = 86_400_000
/** A process that has not renewed its lease so long is gone. Unit: milliseconds. */
const LEASE_MS = 15_000
/** Pause between two rounds of the job. Unit: milliseconds. */
export const ROUND_MS = 5_000
const PAGE = 100

const leaseOf = (holder: string): string => `gateway ${holder}`

/** The ledger of this process. */
export const ledger = Effect.fnUntraced(function* (usdInr: number | null) {
  const storage = yield* Storage
  const quotas = yield* Quotas
  const capture = yield* Capture
  const holder = yield* newId("gwp")
  /** Calls of this process that are under way. */
  const live = new Set<string>()

  /** Reserves the most that a call may take, before anything is sent. Fails: `QuotaExceeded`. */
  const open = Effect.fnUntraced(function* (use: QuotaUse, facts: CallFacts) {
    const id = yield* newId("gwc")
    const { ms: startedMs } = yield* storage.asOf
    live.add(id)
    const reserved = yield* beside(
      quotas.reserve(use, RESERVED_MS, (reservation) => [
        {
          collection: CALLS,
          id,
          expectedVersion: 0,
          body: { ...facts, holder, reservation: { ...reservation }, startedMs },
          keys: { open: `${String(startedMs).padStart(16, "0")} ${id}` }
        }
      ])
    ).pipe(Effect.onError(() => Effect.sync(() => live.delete(id))))
    if (reserved.reserved) return { ...facts, id, reservation: reserved.reservation, startedMs } satisfies OpenCall
    live.delete(id)
    return yield* quotaExceeded(use.resource, reserved.resetS)
  })

  /** Settles a call with what it took, and witnesses it. What was settled before stays. */
  const close = Effect.fnUntraced(function* (call: OpenCall, outcome: CallOutcome) {
    const { usage: reported } = outcome
    const input = reported === null ? 0 : (reported.input ?? call.inputEstimate)
    const output = reported === null ? 0 : (reported.output ?? outcome.outputEstimate)
    const isReported = reported === null || (reported.input !== null && reported.output !== null)
    const registered = call.modelId === null ? null : yield* storage.get(MODELS, call.modelId)
    const cost = registered === null ? null : costMicroUsd(registered.body as ModelDocument, input, output)
    const { ms } = yield* storage.asOf
    const shared = { capture: "mediated", mode: "enforced", decided_by: "server" } as const
    const decision: DecisionIn = {
      ...shared,
      client_ref: call.id,
      kind: "model_call",
      action: call.model,
      model: call.modelId ?? call.model,
      status: statuses[outcome.end],
      latency_ms: Math.max(0, ms - call.startedMs),
      usage: { input_tokens: input, output_tokens: output, cost_micro_usd: cost },
      labels: {
        form: call.form,
        end: outcome.end,
        caller: call.caller,
        upstream_status: outcome.upstreamStatus,
        usage: isReported ? "reported" : "estimated",
        reserved_tokens: call.reservation.amount,
        usd_inr: usdInr,
        cost_micro_inr: cost === null || usdInr === null ? null : Math.round(cost * usdInr)
      }
    }
    const tools = outcome.tools.map(({ approvalId, evaluationId, isRefused, name }, at): DecisionIn => ({
      ...shared,
      client_ref: `${call.id}:${at}`,
      kind: "tool_call",
      action: name,
      status: isRefused ? "denied" : "intended",
      evaluation_id: evaluationId,
      approval_id: approvalId
    }))
    const found = yield* storage.get(CALLS, call.id)
    const deletes = found === null ? [] : [{ collection: CALLS, id: call.id, version: found.version }]
    yield* capture
      .witness(call.agentId, [decision, ...tools], { id: GATEWAY_WRITER }, undefined, (change) =>
        Effect.flatMap(
          quotas.settle(call.reservation, input + output, {
            ...change,
            deletes: [...(change.deletes ?? []), ...deletes]
          }),
          (receipt) => (receipt === null ? Effect.die(new SettledBefore()) : Effect.succeed(receipt))
        )
      )
      .pipe(
        Effect.catchDefect((defect) => (defect instanceof SettledBefore ? Effect.void : Effect.die(defect))),
        // Two sweeps may close one call at once: the second has another latency to say.
        Effect.catchTag("ClientRefReused", (reused) =>
          Effect.flatMap(storage.get(CALLS, call.id), (open) => (open === null ? Effect.void : Effect.fail(reused)))
        ),
        Effect.ensuring(Effect.sync(() => live.delete(call.id)))
      )
  }, beside)

  /** Settles what processes left behind that are gone: at its most, since nobody knows what it took. */
  const sweep = Effect.gen(function* () {
    yield* storage.lease(leaseOf(holder), holder, LEASE_MS)
    const { ms } = yield* storage.asOf
    const before = String(ms - LEASE_MS).padStart(16, "0")
    const gone = new Map<string, boolean>([[holder, true]])
    for (const document of yield* storage.range(CALLS, "open", { before, limit: PAGE })) {
      const { holder: of, ...call } = document.body as unknown as OpenCall & { readonly holder: string }
      if (live.has(document.id)) continue
      if (!gone.has(of)) {
        gone.set(of, yield* storage.lease(leaseOf(of), holder, LEASE_MS))
        if (gone.get(of) === true) yield* storage.releaseLease(leaseOf(of), holder)
      }
      if (gone.get(of) !== true) continue
      yield* close({ ...call, id: document.id }, lostOutcome(call))
    }
  })

  return { open, close, sweep, isLive: (id: string) => live.has(id) }
})

/** The reservation of a call was settled before. */
class SettledBefore extends Error {}

const statuses: { readonly [E in CallEnd]: NonNullable<DecisionIn["status"]> } = {
  finished: "ok",
  client_gone: "error",
  upstream_error: "error",
  halted: "denied",
  lost: "unknown"
}

const lostOutcome = ({ inputEstimate, reservation }: Pick<OpenCall, "inputEstimate" | "reservation">): CallOutcome => ({
  end: "lost",
  upstreamStatus: null,
  usage: { input: inputEstimate, output: Math.max(0, reservation.amount - inputEstimate) },
  outputEstimate: 0,
  tools: []
})
