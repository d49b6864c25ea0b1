/** What a record does to the windows of meters. The service and the verifier fold alike. */
import type { JsonMap } from "../../replay/rules/types.ts"
import { readSide } from "./recorded-side.ts"
import type { Reservation, WindowBook } from "./window-book.ts"

/** Kinds of records that touch meters. */
export const meterKinds: ReadonlyArray<string> = ["evaluation.made", "decision.settled", "meter.voided"]

/** Adds one record to a book. Records that say what cannot be (one window twice, a time that falls) are taken as far as they make sense: whoever judges them says so. */
export const foldMeters = (book: WindowBook, { body, kind, seq }: { readonly seq: number; readonly kind: string; readonly body: JsonMap }): void => {
  if (kind === "evaluation.made") {
    const reservations = reservationsOf(body)
    book.reserve(seq, Math.max(Number(body["as_of_ms"]), ...reservations.map(({ window }) => book.latestMs(window))), reservations)
  } else if (kind === "meter.voided") book.void(Number(body["evaluation_seq"]))
  else if (kind === "decision.settled" && typeof body["evaluation_seq"] === "number") {
    for (const { amount, meter } of (body["actual"] ?? []) as ReadonlyArray<{ readonly amount: number; readonly meter: string }>) book.settle(body["evaluation_seq"], meter, amount)
  }
}

/** What the evaluation of this body adds, one entry a window. */
export const reservationsOf = (body: JsonMap): ReadonlyArray<Reservation> => {
  const windows = new Set<string>()
  const sides = [{ prefix: "", side: readSide(body) }, ...(body["shadow"] === undefined ? [] : [{ prefix: "shadow:", side: readSide(body["shadow"] as JsonMap) }])]
  return sides.flatMap(({ prefix, side }) => side.meters.flatMap(({ amount, id, window }) => {
    if (amount === null || windows.has(window)) return []
    windows.add(window)
    return [{ meter: `${prefix}${id}`, window, amount }]
  }))
}
