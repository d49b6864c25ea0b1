/** The H line of a pack, written and read. */
import { equalBytes } from "../bytes.ts"
import { canonicalBytes } from "../json/canonical.ts"
import { readJson } from "../json/read.ts"
import { parseInstant } from "../record/instant.ts"
import type { PackHeader } from "./format.ts"

/** The bytes of the H line's payload. */
export const encodeHeader = (header: PackHeader): Uint8Array => canonicalBytes(header)

/** Reads an H line's payload: the canonical form of exactly the seven members, or what was expected instead. */
export const readHeader = (
  bytes: Uint8Array
): { readonly ok: true; readonly header: PackHeader } | { readonly ok: false; readonly reason: string } => {
  const read = readJson(bytes)
  if (!read.ok || !isObject(read.value)) return { ok: false, reason: "a JSON object" }
  const value = read.value
  if (Object.keys(value).sort().join() !== MEMBERS) return { ok: false, reason: `exactly the members ${MEMBERS}` }
  const { created, filter, from, generator, kind, to, tree_size } = value
  if (typeof created !== "string" || parseInstant(created) === null)
    return { ok: false, reason: "created as YYYY-MM-DDTHH:MM:SS.mmmZ" }
  if (!isObject(filter)) return { ok: false, reason: "filter as an object" }
  if (typeof generator !== "string") return { ok: false, reason: "generator as a text" }
  if (kind !== "full" && kind !== "range" && kind !== "sparse")
    return { ok: false, reason: "kind full, range or sparse" }
  if (!isCount(from) || !isCount(to) || !isCount(tree_size))
    return { ok: false, reason: "from, to and tree_size as integers from 0" }
  const header: PackHeader = { created, filter, from, generator, kind, to, tree_size }
  return isCanonical(header, bytes) ? { ok: true, header } : { ok: false, reason: "the canonical form (RFC 8785)" }
}

const MEMBERS = "created,filter,from,generator,kind,to,tree_size"

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0

const isCanonical = (header: PackHeader, bytes: Uint8Array): boolean => {
  try {
    return equalBytes(canonicalBytes(header), bytes)
  } catch {
    // A lone surrogate in a string has no canonical form.
    return false
  }
}
