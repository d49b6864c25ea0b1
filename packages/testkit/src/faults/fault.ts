/**
 * Faults in pairs: the write was lost, or the write landed and the answer was lost. Spec: style section 8, design
 * section 7.
 *
 * No test framework is in this folder: a wrapped port is a port, and runs wherever ports do.
 */
import type { GuardApi, SignerRotation } from "@flyball/core"
import { type OutboxApi, type StorageApi, StorageUnavailable } from "@flyball/core/storage"
import { Effect } from "effect"

/**
 * Kind of fault of one call.
 *
 * - `write refused`: nothing happened, and the answer says so (`wrote: "no"`).
 * - `write lost`: nothing happened, and the caller does not learn whether (`wrote: "unknown"`).
 * - `answer lost`: it happened, and the caller does not learn whether (`wrote: "unknown"`).
 */
export type FaultKind = "write refused" | "write lost" | "answer lost"

/** All kinds of faults. The caller cannot distinguish the last two: that is why they come in pairs. */
export const faultKinds: ReadonlyArray<FaultKind> = ["write refused", "write lost", "answer lost"]

/** A call that can fail: a method of a port. */
export type FaultPoint =
  | `storage.${Exclude<keyof StorageApi, "backend" | "limits" | "outbox">}`
  | "storage.limits.take"
  | `storage.outbox.${keyof OutboxApi}`
  | `guard.${keyof GuardApi}`
  | "signer.sign"
  | `signer.${keyof SignerRotation}`

/** One fault: the `call`-th call (from 1) of this method goes wrong in this way. */
export interface Fault {
  readonly point: FaultPoint
  readonly call: number
  readonly kind: FaultKind
}

/** Decides about each call as it comes; null lets it through. */
export type FaultPlan = (point: FaultPoint, call: number) => FaultKind | null

/** Plans no fault for any call. */
export const noFaults: FaultPlan = () => null

/** Exactly these faults. */
export const faultsAt =
  (...faults: ReadonlyArray<Fault>): FaultPlan =>
  (point, call) =>
    faults.find((fault) => fault.point === point && fault.call === call)?.kind ?? null

/** Counts the calls of all wrapped ports that share it, and asks the plan about each. */
export class FaultBoard {
  /** Faults that have struck so far, in order. */
  readonly struck: Array<Fault> = []
  readonly #plan: FaultPlan
  readonly #calls = new Map<FaultPoint, number>()

  constructor(plan: FaultPlan) {
    this.#plan = plan
  }

  /** How often each method was called, in the order of their first calls. */
  get calls(): ReadonlyMap<FaultPoint, number> {
    return this.#calls
  }

  /** Counts one call, and answers what goes wrong with it. */
  next(point: FaultPoint): FaultKind | null {
    const call = (this.#calls.get(point) ?? 0) + 1
    this.#calls.set(point, call)
    const kind = this.#plan(point, call)
    if (kind !== null) this.struck.push({ point, call, kind })
    return kind
  }
}

/**
 * The call, or what becomes of it under the board's plan. A call that is refused has not happened, so its answer can be
 * lost as well.
 */
export const underFault = <A, E>(
  board: FaultBoard,
  point: FaultPoint,
  call: Effect.Effect<A, E>
): Effect.Effect<A, E | StorageUnavailable> =>
  Effect.suspend((): Effect.Effect<A, E | StorageUnavailable> => {
    const kind = board.next(point)
    if (kind === null) return call
    const fault = Effect.fail(
      new StorageUnavailable({
        reason: `a test's fault at ${point}: ${kind}`,
        wrote: kind === "write refused" ? "no" : "unknown"
      })
    )
    return kind === "answer lost" ? Effect.andThen(Effect.ignore(call), fault) : fault
  })
