/** Checks what a host hands in against the contract: the same shapes and the same answers as over HTTP. */
import {
  decode,
  decodeWitnessInSlices,
  type Decoder,
  type DecisionIn,
  detailItem,
  InvalidInput,
  PackRequest,
  type PastTimes,
  RecordsQuery,
  ResolveDraftIn
} from "@flyball/contract"
import { Clock, Effect, Result, Schema } from "effect"
import { inSlices } from "../../foundation/in-slices.ts"
import { governorError } from "../../foundation/value-or-throw.ts"
import { takenDown, Unwalkable, withoutUndefined } from "./plain-input.ts"

/** A request for a pack. */
export const decodePack = decode(PackRequest)
const { groups, roles, user_ids } = ResolveDraftIn.fields
/** Decodes the claims of a token about a person. */
export const decodeClaims = decode(Schema.Struct({ groups, roles, user_ids }))

const recordFilter = decode(RecordsQuery)

/**
 * Decodes a body, which is taken down at the call: the effect may run in a later turn, and read it long after. Members
 * that are undefined count as absent. `past` lists the times that must lie ahead and do not, beside other problems.
 */
export const decoded = <A>(decoder: Decoder<A>, input: unknown, past?: PastTimes): Effect.Effect<A, InvalidInput> =>
  taking(
    () => takenDown(input),
    (plain) => {
      const read = decoder(plain, "body")
      return past === undefined || Result.isSuccess(read)
        ? answer(read)
        : Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
            answer(Result.fail([...read.failure, ...past(plain, nowMs)]))
          )
    }
  )

/**
 * Decodes one decision or a list, as a batch.
 *
 * A single decision is copied at the call. A list is not, because copying a thousand decisions would block the host.
 * The caller must not change it until the promise settles.
 */
export const decodeDecisions = (input: unknown): Effect.Effect<ReadonlyArray<DecisionIn>, InvalidInput> =>
  isList(input)
    ? Effect.suspend(() =>
        taking(
          () => eachWithoutUndefined(input),
          (decisions) => read({ decisions })
        )
      )
    : taking(() => ({ decisions: [takenDown(input)] }), read)

/** False for a value on which even this check throws: a proxy that was revoked. */
const isList = (input: unknown): input is ReadonlyArray<unknown> => {
  try {
    return Array.isArray(input)
  } catch {
    return false
  }
}

/** The list itself where nothing of it is to be left out: each may be as large as one alone. */
const eachWithoutUndefined = (list: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  let changed: Array<unknown> | null = null
  for (let index = 0; index < list.length; index++) {
    const one = list[index]
    const plain = withoutUndefined(one)
    if (plain !== one) (changed ??= [...list])[index] = plain
  }
  return changed ?? list
}

const read = (plain: { readonly decisions: unknown }): Effect.Effect<ReadonlyArray<DecisionIn>, InvalidInput> =>
  Effect.flatMap(inSlices(decodeWitnessInSlices(plain)), answer)

/**
 * Takes something down now, and continues with it when the effect runs. What cannot be read to its end, or throws while
 * it is read, ends the effect and not the call.
 */
const taking = <P, A>(
  take: () => P,
  goOn: (taken: P) => Effect.Effect<A, InvalidInput>
): Effect.Effect<A, InvalidInput> => {
  const taken = Result.try(take)
  return Result.isSuccess(taken) ? Effect.suspend(() => goOn(taken.success)) : Effect.fail(unreadable(taken.failure))
}

const unreadable = (error: unknown): InvalidInput =>
  new InvalidInput({
    detail: [
      detailItem(
        ["body"],
        "value_error",
        error instanceof Unwalkable
          ? error.message
          : `Reading it threw an error: ${error instanceof Error ? error.message : typeof error}`
      )
    ]
  })

/** A filter is a query: its numbers travel as text. */
export const query =
  <A>(decoder: Decoder<A>) =>
  (input: object): Effect.Effect<A, InvalidInput> =>
    taking(
      () => takenDown(input),
      (plain) => {
        if (typeof plain !== "object" || plain === null)
          return Effect.fail(
            new InvalidInput({ detail: [detailItem(["query"], "dict_type", "Input should be an object", plain)] })
          )
        const members = Object.entries(plain).filter(([, value]) => value !== undefined)
        return answer(
          decoder(
            Object.fromEntries(
              members.map(([name, value]) => [name, typeof value === "number" ? String(value) : value])
            ),
            "query"
          )
        )
      }
    )

/** Decodes a filter of records. */
export const decodeRecordFilter = query(recordFilter)

/** A seq: a whole number from 0. */
export const decodeSeq = (seq: unknown): Effect.Effect<number, InvalidInput> => whole(["path", "seq"], seq)

/** A wait in milliseconds: a number from 0. */
export const decodeWait = (waitMs: unknown): Effect.Effect<number, InvalidInput> =>
  typeof waitMs === "number" && waitMs >= 0
    ? Effect.succeed(waitMs)
    : Effect.fail(
        new InvalidInput({
          detail: [detailItem(["query", "wait_ms"], "int_type", "Input should be a number of milliseconds", waitMs)]
        })
      )

/**
 * Takes down what a host hands in before anything is done with it.
 *
 * - Fails: throws `GovernorError` with `invalid_input` where it cannot be read to its end.
 */
export const takenDownOrRefused = (input: unknown): unknown => {
  const taken = Result.try(() => takenDown(input))
  if (Result.isSuccess(taken)) return taken.success
  throw governorError(unreadable(taken.failure))
}

/** Numbers that a host hands in one by one are numbers: text would be joined where it should be added. */
const whole = (loc: ReadonlyArray<string>, value: unknown): Effect.Effect<number, InvalidInput> =>
  Number.isSafeInteger(value) && (value as number) >= 0
    ? Effect.succeed(value as number)
    : Effect.fail(
        new InvalidInput({ detail: [detailItem(loc, "int_type", "Input should be a whole number from 0", value)] })
      )

const answer = <A>(result: Result.Result<A, InvalidInput["detail"]>): Effect.Effect<A, InvalidInput> =>
  Effect.fromResult(Result.mapError(result, (detail) => new InvalidInput({ detail })))
