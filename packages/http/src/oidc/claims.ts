/** Reads claims of a genuine token. Genuine is not well formed: an issuer is another program. */
import { CLAIM_LIMIT } from "@flyball/contract"

/** Values of one claim that are read. */
const MAX_VALUES = 1_000

/** A text of a claim that can be kept; null for anything else. */
export const claimText = (value: unknown): string | null =>
  typeof value === "string" &&
  value !== "" &&
  value.length <= CLAIM_LIMIT &&
  value.isWellFormed() &&
  !value.includes("\0")
    ? value
    : null

/**
 * The texts of a claim: a list, or one text with spaces between. The claim itself goes before a path of the same name.
 */
export const claimList = (payload: { readonly [name: string]: unknown }, path: string): ReadonlyArray<string> => {
  const value =
    own(payload, path) ??
    path
      .split(".")
      .reduce<unknown>(
        (inner, name) => (typeof inner === "object" && inner !== null ? own(inner, name) : undefined),
        payload
      )
  const values: ReadonlyArray<unknown> = Array.isArray(value)
    ? value
    : typeof value === "string"
      ? value.split(" ")
      : []
  return values
    .slice(0, MAX_VALUES)
    .map(claimText)
    .filter((text) => text !== null)
}

const own = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? (value as { readonly [name: string]: unknown })[name] : undefined
