/** Reads the JSON of a part that we write ourselves, or that somebody else says we wrote. */
import { MAX_CANONICAL_DEPTH, MAX_PART_BYTES, readJson } from "@flyball/evidence"
import type { Json, JsonMap, PartContent } from "./record.ts"

/** The members of a part, or why they are not known. */
export type PartMembers =
  | { readonly state: "known"; readonly members: JsonMap }
  | { readonly state: "absent" | "erased" | "withheld" | "missing" | "unreadable" }

/** The value of a part, or why it is not known. */
export type PartValue =
  | { readonly state: "known"; readonly value: Json }
  | { readonly state: "absent" | "erased" | "withheld" | "missing" | "unreadable" }

/**
 * Reads a part as JSON. A record that names no such part gives `absent`; what is over `maxBytes`, which no service
 * writes, `unreadable`.
 */
export const partValue = (part: PartContent | undefined, maxBytes: number = MAX_PART_BYTES): PartValue => {
  if (part === undefined) return { state: "absent" }
  if (part.state !== "present") return { state: part.state }
  // A part may be the work of who wants the reader to fail: its size and depth are known before anything is made of it.
  const read = readJson(part.bytes, { maxBytes, maxDepth: MAX_CANONICAL_DEPTH })
  return read.ok ? { state: "known", value: read.value as Json } : { state: "unreadable" }
}

/** Reads a part as a JSON object, as {@link partValue} does; any other value is `unreadable`. */
export const partMembers = (part: PartContent | undefined, maxBytes: number = MAX_PART_BYTES): PartMembers => {
  const read = partValue(part, maxBytes)
  if (read.state !== "known") return read
  const { value } = read
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? { state: "known", members: value as JsonMap }
    : { state: "unreadable" }
}
