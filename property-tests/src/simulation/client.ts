/** A correct client: it retries the same request until it is answered, and writes down each answer. */
import type { GovernorServices } from "@flyball/core"
import type { Storage } from "@flyball/core/storage"
import type { Pick } from "@flyball/testkit"
import { Cause, Effect, Exit } from "effect"
import type { Ledger } from "./ledger.ts"

/** Result of a call; null when no answer will ever come. */
export type Ended<A, E> = Exit.Exit<A, E> | null

/** Puts one question to some host. */
export type Call = <A, E>(effect: Effect.Effect<A, E, GovernorServices | Storage>) => Effect.Effect<Ended<A, E>>

/** An answer: the result, or a refusal. */
export type Answer<A, E> = { readonly done: true; readonly value: A } | { readonly done: false; readonly refusal: E }

/** Pause before a question is put again. */
const AGAIN_MS = 150

/** One client. */
export interface Client {
  readonly name: string
  readonly pick: Pick
  readonly ledger: Ledger
  readonly call: Call
  readonly note: (text: string) => void
}

/** An act of a client in one turn. */
export type Act = (client: Client, turn: number) => Effect.Effect<void>

/** Notes a refusal that nothing a client did explains. */
export const unexpected = (client: Client, what: string, tag: string): Effect.Effect<null> =>
  Effect.sync(() =>
    client.ledger.problem(`${what}: ${client.name} was refused with ${tag}, which nothing it did explains`)
  )

/** Failures that are not answers: the question is put again. */
type Fault = { readonly _tag: "StorageUnavailable" } | { readonly _tag: "StorageCorrupt" }

/**
 * Asks until there is an answer. Unavailable and silence mean: ask again, the same. Corrupt and a defect are problems
 * of the run.
 *
 * `tried` counts each try before it is made: a try that nobody answered may have landed.
 */
export const ask = <A, E extends { readonly _tag: string }>(
  { call, ledger, name, note }: Client,
  what: string,
  effect: Effect.Effect<A, E, GovernorServices | Storage>,
  tried?: { tries: number }
): Effect.Effect<Answer<A, Exclude<E, Fault>> | null> =>
  Effect.gen(function* () {
    for (;;) {
      if (tried !== undefined) tried.tries += 1
      const ended = yield* call(effect)
      if (ended !== null && Exit.isSuccess(ended)) {
        ledger.count(what)
        note(`${name} ${what}: done`)
        return { done: true as const, value: ended.value }
      }
      const refusal = ended === null ? null : failureOf(ended.cause)
      if (ended === null) note(`${name} ${what}: no answer`)
      else if (refusal === null) return ledger.problem(`${what} died: ${Cause.pretty(ended.cause).slice(0, 600)}`)
      else if (refusal._tag === "StorageCorrupt")
        return ledger.problem(`${what} was answered with: ${(refusal as { readonly message?: string }).message}`)
      else if (refusal._tag !== "StorageUnavailable") {
        ledger.count(`${what} refused: ${refusal._tag}`)
        note(`${name} ${what}: ${refusal._tag}`)
        return { done: false as const, refusal: refusal as Exclude<E, Fault> }
      } else note(`${name} ${what}: unavailable`)
      yield* Effect.sleep(AGAIN_MS)
    }
  })

const failureOf = <E>(cause: Cause.Cause<E>): E | null => {
  const reason = cause.reasons.find((one) => one._tag === "Fail")
  return reason === undefined ? null : reason.error
}
