/** Folds a record into the windows of meters. The service and the verifier run the same fold. */
import type { JsonMap } from "../records/record.ts"
import type { Reservation, WindowBook } from "@flyball/envelope"

/** Kinds of records that touch meters. Spec: `envelope/1` section 6. */
export const meterKinds: ReadonlyArray<string> = ["evaluation.made", "decision.settled", "meter.voided"]

/**
 * True when a writer may reduce a meter. An ingest key may not: otherwise an agent could reset its own meters.
 *
 * Spec: `envelope/1` section 6; decision 0025.
 */
export const mayGiveBack = (writer: unknown): boolean => typeof writer === "string" && !writer.startsWith("key_")

/**
 * Adds one record to a book. Answers false, and ignores the reduction, where its writer may not reduce a meter.
 * Contradictory records (one window twice, a time that falls) are folded as far as possible: the judge reports them.
 * Spec: `envelope/1` section 6; decision 0025.
 */
export const foldMeters = (
  book: WindowBook,
  { body, kind, seq }: { readonly seq: number; readonly kind: string; readonly body: JsonMap }
): boolean => {
  let isTaken = true
  if (kind === "evaluation.made") {
    const reservations = reservationsOf(body)
    if (reservations.length > 0) book.reserve(seq, Number(body["as_of_ms"]), reservations)
  } else if (kind === "meter.voided") {
    isTaken = mayGiveBack(body["writer"])
    if (isTaken) book.void(Number(body["evaluation_seq"]))
  } else if (kind === "decision.settled" && typeof body["evaluation_seq"] === "number") {
    const mayLower = mayGiveBack(body["writer"])
    for (const { amount, meter } of (body["actual"] ?? []) as ReadonlyArray<{
      readonly amount: number
      readonly meter: string
    }>) {
      if (!book.settle(body["evaluation_seq"], meter, amount, mayLower)) isTaken = false
    }
  }
  return isTaken
}

/** Contributions of the evaluation of this body, one entry a window. Spec: `envelope/1` section 6. */
export const reservationsOf = (body: JsonMap): ReadonlyArray<Reservation> => {
  const found: Array<Reservation> = []
  addSide(found, "", body)
  if (body["shadow"] !== undefined) addSide(found, "shadow:", body["shadow"] as JsonMap)
  return found
}

const addSide = (found: Array<Reservation>, prefix: string, side: JsonMap): void => {
  const meters = (side["meters"] ?? none) as ReadonlyArray<{
    readonly amount?: number
    readonly id: string
    readonly window: string
  }>
  for (let i = 0; i < meters.length; i++) {
    const { amount, id, window } = meters[i]!
    if (amount !== undefined && !isAmong(found, window))
      found.push({ meter: prefix === "" ? id : `${prefix}${id}`, window, amount })
  }
}

const isAmong = (found: ReadonlyArray<Reservation>, window: string): boolean => {
  for (let i = 0; i < found.length; i++) if (found[i]!.window === window) return true
  return false
}

const none: ReadonlyArray<never> = []
