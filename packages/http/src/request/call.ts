/** A request as handlers see it: decoded, its caller known and admitted. */
import type {
  BodyValue,
  Endpoint,
  generalRefusals,
  Params,
  ParamValues,
  QueryValue,
  Success
} from "@flyball/contract/http"
import type { Refusal } from "@flyball/contract"
import {
  type Account,
  type GovernorServices,
  type LostAccess,
  type Storage,
  type StorageConflict,
  type StorageCorrupt,
  type StorageUnavailable,
  type TrustStoreUnavailable
} from "@flyball/core"
import type { Effect } from "effect"
import type { Incoming } from "../exchange.ts"
import type { CountRequest } from "../metrics/http-counts.ts"
import type { IssuerUnavailable } from "./issuer-unavailable.ts"
import type { Answer, AnswerOf } from "../answer/answer.ts"
import type { AdmittedCaller } from "./caller.ts"

/** Services that handlers may use. */
export type Services = GovernorServices | Storage

/** Faults of a handler: storage and identity provider. */
export type Fault = StorageUnavailable | StorageCorrupt | StorageConflict | IssuerUnavailable | TrustStoreUnavailable

/** One call of an endpoint. */
export interface Call<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly caller: AdmittedCaller
  /** The Accept header, lower case; empty when there is none. */
  readonly accept: string
  /**
   * The request itself, for what concerns no endpoint of the contract: conditional requests, and where it comes from.
   */
  readonly request: Incoming
  readonly server: ServerFacts
  /** The JSON value of the body as it came; undefined without one. */
  readonly value: unknown
  /** The caller as limits count it; null but for the platform API. */
  readonly account: Account | null
  /**
   * Aborts when the reader of the answer is gone, for what an operation has under way elsewhere. A function: a getter
   * in an object literal gives each request a hidden class of its own, which keeps it until a full collection.
   */
  readonly signal: () => AbortSignal
  /** Finds out again who the caller is, and whether this endpoint admits it: for answers that last. */
  readonly readmit: Effect.Effect<AdmittedCaller, LostAccess | Fault, Services>
}

/** Facts about the server that system endpoints report. */
export interface ServerFacts {
  readonly version: string
  /** True when callers without a token may read. */
  readonly isDemo: boolean
  readonly draining: () => boolean
  readonly count: CountRequest
  /** Opens the metrics to those who are not on this host; null: nobody. */
  readonly metricsToken: string | null
  /** Where the API is mounted, for links; empty at the root. */
  readonly prefix: string
  /** True when a process on this host reads the metrics without the token. */
  readonly localMetrics: boolean
  /** How often a stream sends a comment where nothing happens, and checks its caller as a wait does. Milliseconds. */
  readonly pingMs: number
}

/** The failure that a handler of a request that waits may have besides. */
type WhileWaiting<Q> = "wait_ms" extends keyof Q ? LostAccess : never

/**
 * The handler of an endpoint. It answers with the success shape of its row in the table, and may fail with the refusals
 * of that row and no others.
 */
export type HandlerOf<E> =
  E extends Endpoint<infer P extends Params, infer Q, infer B, infer R, infer S extends Success>
    ? (
        call: Call<ParamValues<P>, QueryValue<Q>, BodyValue<B>>
      ) => Effect.Effect<
        AnswerOf<S["schema"], S["media"]>,
        | Extract<Refusal, { readonly _tag: R | (typeof generalRefusals)[number] | "Forbidden" }>
        | WhileWaiting<QueryValue<Q>>
        | Fault,
        Services
      >
    : never

/** The handlers of a group of endpoints. Forgetting one is a type error. */
export type HandlersOf<Group> = { readonly [K in keyof Group]: HandlerOf<Group[K]> }

/** A handler whose types are behind it. */
export type AnyHandler = (call: Call<never, never, never>) => Effect.Effect<Answer, Refusal | Fault, Services>
