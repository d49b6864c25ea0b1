/**
 * The quota of a request: reserved before its operation, settled with its effect, returned where there was none. Spec:
 * document 2 section 8; platform section 5.
 */
import { planQuotas } from "@flyball/contract"
import type { AnyEndpoint, QuotaRow } from "@flyball/contract/http"
import {
  type Account,
  beside,
  oneUnit,
  quotaExceeded,
  type QuotaReservation,
  Quotas,
  type QuotaUse
} from "@flyball/core"
import { Effect, Exit } from "effect"
import type { Reply } from "../dispatch.ts"
import { type AdmittedCaller, scopeOf } from "../request/caller.ts"
import { receivedBytes } from "../request/read-body.ts"

/** When a reservation lapses that nobody settled: longer than any answer takes. Unit: milliseconds. */
const RESERVED_MS = 3_600_000

/** Computes what a request may use, by its row, its body and its plan; null where its row uses nothing. */
export const quotaOf = Effect.fnUntraced(function* (
  { platform }: AnyEndpoint,
  caller: AdmittedCaller,
  { body, query, value }: { readonly query: unknown; readonly body: unknown; readonly value: unknown },
  { plan }: Account
) {
  const row: QuotaRow | null = platform?.quota ?? null
  if (row === null) return null
  const unit = yield* oneUnit(scopeOf(caller), (query as { readonly org_unit?: string }).org_unit)
  const { limit, soft } = planQuotas[plan][row.resource]
  return {
    unit,
    resource: row.resource,
    amount: row.most(body, receivedBytes(value).length),
    limit: soft ? null : limit
  } satisfies QuotaUse
})

/**
 * Runs an operation with what is reserved for it. What it settled itself stays; else its answer settles the most, and
 * its failure nothing. A stream settles itself: it goes on when this returns.
 *
 * - Fails: `QuotaExceeded`, before it runs.
 */
export const withQuota = <E, R>(
  use: QuotaUse | null,
  run: (reservation: QuotaReservation | null) => Effect.Effect<Reply, E, R>
) =>
  use === null
    ? run(null)
    : Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const quotas = yield* Quotas
          // A caller that leaves meanwhile would keep what was reserved until it lapses.
          const reserved = yield* beside(quotas.reserve(use, RESERVED_MS))
          if (!reserved.reserved) return yield* quotaExceeded(use.resource, reserved.resetS)
          const { reservation } = reserved
          return yield* Effect.onExit(restore(run(reservation)), (exit) =>
            Exit.isSuccess(exit) && exit.value.answer.kind === "stream"
              ? Effect.void
              : Effect.ignore(beside(quotas.settle(reservation, Exit.isSuccess(exit) ? reservation.amount : 0)))
          )
        })
      )
