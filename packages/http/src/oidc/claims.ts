/** Reads claims of a genuine token. Genuine is not well formed: an issuer is another program. */
import { CLAIM_LIMIT } from "@flyball/contract"

/** Most values of one claim that are read. */
const MAX_VALUES = 1_000

/**
 * Names what a claim lacks. `overage`: the issuer left the values out because they are too many. `cut`: it has more
 * than {@link MAX_VALUES} values. `form`: something in it is no text of 1 to {@link CLAIM_LIMIT} characters.
 */
export type ClaimProblem = "overage" | "cut" | "form"

/** Where a claim is, and what separates the values of a text; null where a text is one value. */
export interface ClaimPlace {
  /** A name, a path with dots, or a JSON pointer where it begins with `/`. */
  readonly path: string
  readonly separator: string | null
}

/** The values of a claim, and what it lacks; null where it is complete. */
export interface ReadClaim {
  readonly values: ReadonlyArray<string>
  readonly problem: ClaimProblem | null
}

type Payload = { readonly [name: string]: unknown }

/** Returns a text of a claim that can be kept; null for anything else. */
export const claimText = (value: unknown): string | null =>
  typeof value === "string" &&
  value !== "" &&
  value.length <= CLAIM_LIMIT &&
  value.isWellFormed() &&
  !value.includes("\0")
    ? value
    : null

/**
 * Reads the values of a claim. A list has many; a text is one value, unless the claim has a separator. Spec: api.md
 * "Who may call".
 */
export const readClaim = (payload: Payload, { path, separator }: ClaimPlace): ReadClaim => {
  const value = claimAt(payload, path)
  const given: ReadonlyArray<unknown> = Array.isArray(value)
    ? value
    : typeof value === "string" && separator !== null
      ? value.split(separator)
      : [value]
  const sent = given.filter((one) => one !== undefined && one !== null && one !== "")
  const texts = sent.slice(0, MAX_VALUES).map(claimText)
  const values = texts.filter((text) => text !== null)
  const problem = isLeftOut(payload, path)
    ? "overage"
    : sent.length > MAX_VALUES
      ? "cut"
      : values.length < texts.length
        ? "form"
        : null
  return { values, problem }
}

/** The claim of this name goes before a path of the same name. */
const claimAt = (payload: Payload, path: string): unknown =>
  path.startsWith("/") ? inside(payload, namesOf(path)) : (own(payload, path) ?? inside(payload, namesOf(path)))

const namesOf = (path: string): ReadonlyArray<string> =>
  path.startsWith("/")
    ? path
        .slice(1)
        .split("/")
        .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    : path.split(".")

const inside = (payload: Payload, names: ReadonlyArray<string>): unknown =>
  names.reduce<unknown>(
    (inner, name) => (typeof inner === "object" && inner !== null ? own(inner, name) : undefined),
    payload
  )

/**
 * True when the issuer says that the values are elsewhere. Spec: OpenID Connect Core 1.0 section 5.6.2; `hasgroups` is
 * the form of Entra's implicit flow.
 */
const isLeftOut = (payload: Payload, path: string): boolean => {
  const [name = ""] = namesOf(path)
  const elsewhere = own(payload, "_claim_names")
  const has = own(payload, `has${name}`)
  return (
    has === true ||
    has === "true" ||
    (typeof elsewhere === "object" &&
      elsewhere !== null &&
      (Object.hasOwn(elsewhere, name) || Object.hasOwn(elsewhere, path)))
  )
}

const own = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? (value as Payload)[name] : undefined
