/**
 * An operation: one function for a row of the endpoint table. The HTTP handler and the embedding client derive from it.
 *
 * Spec: house section 3. Written beside the service, as an object that `satisfies OperationsOf<typeof rows>`: a generic
 * function around it would lose the types of `Effect.fnUntraced`.
 */
import type {
  AgentQuarantined,
  AutonomyTier,
  Forbidden,
  KeyNotAllowed,
  Plan,
  PlanLimits,
  Refusal,
  Unauthorized
} from "@flyball/contract"
import type { QuotaReservation, QuotaUse } from "../admission/quotas.ts"
import type { LimitRow } from "../storage/limits/slots.ts"
import type {
  AccessRow,
  BodyValue,
  Endpoint,
  generalRefusals,
  Grant,
  Params,
  ParamValues,
  QueryValue,
  Success
} from "@flyball/contract/http"
import type { Effect, Schema } from "effect"
import type { TrustStoreUnavailable } from "../foundation/trust-store-unavailable.ts"
import type { Scope } from "../foundation/scope.ts"
import type { Writer } from "../foundation/writer.ts"
import type { StorageConflict } from "../storage/faults.ts"
import type { ReadFault } from "../storage/port.ts"

/** Faults of an operation. */
export type OperationFault = ReadFault | StorageConflict | TrustStoreUnavailable

/** Refusals of a caller that was admitted and is no longer. */
export type LostAccess = AgentQuarantined | Forbidden | KeyNotAllowed | Unauthorized

/** The caller of an operation: a request of HTTP, or a host in process. Members that cost something are lazy. */
export interface OperationCaller {
  /** Where this caller may do what the row allows. */
  readonly scope: Scope
  /** Where this caller may do what another row allows. */
  readonly may: (row: AccessRow) => Scope
  /** The writer that records name. Asking may record `principal.seen`, so only what writes asks. */
  readonly writer: Effect.Effect<Writer, ReadFault>
  /** The id of the ingest key, which sees its own requests alone; null for people and hosts. */
  readonly own: string | null
  /** Roles of a person by org unit; `any`: the host answers for its caller. */
  readonly grants: ReadonlyArray<Grant> | "any"
  /** The highest tier of an agent that this caller may register. */
  readonly maxTier: AutonomyTier
  /** The address that the issuer says is this person's; null where it says none. */
  readonly email: string | null
  /** Names the caller in queues that serve callers in turn. Kept in memory alone. */
  readonly asker: string
  /** The caller as the limits of the platform API count it; null elsewhere. */
  readonly account: Account | null
  /** The request as it came, for what is passed on; null for a host in process. */
  readonly received: ReceivedRequest | null
  /** Aborts when the caller no longer waits for the answer. */
  readonly signal: AbortSignal
  /** Reports whether the caller has the value of this tag already. */
  readonly knows: (tag: string) => boolean
  /** The version that the caller expects; null for any. */
  readonly ifVersion: number | null
  /** The id of the event behind which a stream continues; null where it begins. */
  readonly afterEvent: number | null
  /**
   * Repeats a step until the caller is no longer admitted or the process ends, and yields what each answers. A step
   * waits at most `stretchMs`, and is given the caller as it is admitted by then.
   */
  readonly follow: <A>(
    step: (caller: OperationCaller, stretchMs: number) => Effect.Effect<A, OperationFault>
  ) => AsyncIterable<A>
  /**
   * Waits for something, in steps that are each given the caller as it is admitted by then; null where nothing came.
   * Unit: milliseconds.
   *
   * - Fails: with the refusal that the caller's next request would get, once it is no longer admitted.
   */
  readonly whileAdmitted: <A, E, R>(
    waitMs: number,
    step: (caller: OperationCaller, stretchMs: number) => Effect.Effect<A | null, E, R>
  ) => Effect.Effect<{ readonly found: A | null; readonly caller: OperationCaller }, E | LostAccess | OperationFault, R>
}

/** A caller of the platform API: its plan, and the limits that its requests are counted against. */
export interface Account {
  /** Names the caller in limits. */
  readonly subject: string
  /** The agent that the caller's key names; null for people, and for keys that name none. */
  readonly agentId: string | null
  readonly plan: Plan
  readonly limits: PlanLimits
  /** The row that every request takes of. */
  readonly row: LimitRow
  /** The reservation of a month's quota for this request; null where its row uses none. */
  readonly reservation: QuotaReservation | null
  /** The quota that this request reserves by itself before it runs; null where its row reserves none by itself. */
  readonly use: QuotaUse | null
}

/** The body of a request as it came, and its headers. */
export interface ReceivedRequest {
  readonly body: Uint8Array
  /** Header by its lower-case name; null without one. */
  readonly header: (name: string) => string | null
}

/** The answer of an upstream that a request is passed to. */
export interface PassedAnswer {
  readonly status: number
  readonly media: string
  readonly headers: { readonly [name: string]: string }
  readonly body: Uint8Array | AsyncIterable<Uint8Array>
}

/** A value and its version, which HTTP carries as ETag and If-Match. */
export interface Versioned<T> {
  readonly value: T
  readonly version: number
}

/** A value and its tag, by which a caller asks whether it changed: HTTP carries it as ETag and If-None-Match. */
export interface Tagged<T> {
  readonly value: T
  /** Null where the answer is for this request alone. */
  readonly tag: string | null
  /** How long a cache may use the answer without asking. Unit: seconds; 0 for never. */
  readonly keptS: number
  /** Position in the chain as of which it holds, also where the caller has it already. */
  readonly asOf?: { readonly seq: number; readonly ms: number }
}

/** A step of a stream: events with the ids behind which a client continues, oldest first. */
export interface StreamStep<T> {
  readonly events: ReadonlyArray<{ readonly id: number; readonly data: T }>
  /** The id behind which a client continues although no event came; null where that stays the one before. */
  readonly readTo: number | null
}

/** The answer of an operation: the value of its row's success, in its form. */
export type Answered<S> = S extends { readonly form: "versioned"; readonly schema: infer T extends Schema.Top }
  ? Versioned<T["Type"]>
  : S extends { readonly form: "tagged"; readonly schema: infer T extends Schema.Top }
    ? Tagged<T["Type"]>
    : S extends { readonly form: "passed" }
      ? PassedAnswer
      : S extends { readonly form: { readonly data: infer D extends Schema.Top } }
        ? AsyncIterable<StreamStep<D["Type"]>>
        : S extends { readonly schema: infer T extends Schema.Top }
          ? T["Type"]
          : Uint8Array | AsyncIterable<Uint8Array>

/** Further failures of an operation whose request waits. */
type Waiting<Q> = "wait_ms" extends keyof QueryValue<Q> ? LostAccess : never

/** The operation of a row. It fails with the refusals of the row, and no others. */
export type OperationOf<E, R = any> =
  E extends Endpoint<infer P extends Params, infer Q, infer B, infer T, infer S extends Success>
    ? (
        input: { readonly params: ParamValues<P>; readonly query: QueryValue<Q>; readonly body: BodyValue<B> },
        caller: OperationCaller
      ) => Effect.Effect<
        Answered<S>,
        | Extract<Refusal, { readonly _tag: T | (typeof generalRefusals)[number] | "Forbidden" }>
        | Waiting<Q>
        | OperationFault,
        R
      >
    : never

/** The operations of a group of rows. Forgetting one is a type error. */
export type OperationsOf<G, R = any> = { readonly [K in keyof G]: OperationOf<G[K], R> }

/** An operation whose types are behind it. */
export type AnyOperation<R> = (
  input: { readonly params: never; readonly query: never; readonly body: never },
  caller: OperationCaller
) => Effect.Effect<unknown, Refusal | OperationFault, R>
