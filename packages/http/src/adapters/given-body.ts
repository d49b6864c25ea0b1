/** A body that a part of the host has read before us, as bytes again. */
import { detailItem, InvalidInput } from "@flyball/contract"
import { utf8 } from "@flyball/evidence"

/** A body that the host has read before us. */
export interface GivenBody {
  /** Its bytes, its text, or what a parser of JSON made of it. Undefined: it was not read. */
  readonly body: unknown
}

/** A body that the host has read: its bytes, or the reason why they cannot be recovered. */
export type ReadBody = { readonly bytes: Uint8Array } | { readonly unreadable: InvalidInput | Error }

/**
 * The bytes of a body as a framework's parser left it.
 *
 * Bytes and text are taken as they are. Any other value is written as JSON: its numbers are then what `JSON.parse` made
 * of them. It is unreadable where that is another number: a whole number that a double does not hold.
 */
export const readBodyAgain = (body: unknown): ReadBody => {
  if (body === undefined) return { unreadable: lost() }
  if (body instanceof Uint8Array) return { bytes: body }
  if (typeof body === "string") return { bytes: utf8(body) }
  let isExact = true
  const text = JSON.stringify(body, (_, value: unknown) => {
    if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) isExact = false
    return value
  })
  return isExact ? { bytes: utf8(text ?? "") } : { unreadable: inexact }
}

const inexact = new InvalidInput({
  detail: [
    detailItem(
      ["body"],
      "json_invalid",
      "The body has a whole number beyond 2^53 - 1, which the JSON parser of this host has rounded",
      null
    )
  ]
})

const lost = (): Error =>
  new Error(
    "Another part of the host has already read the body of this request. Mount the API before it, or pass the " +
      "parsed body as { body }"
  )
