/** Reads the JSON of a part that we write ourselves, or that somebody else says we wrote. */
import { MAX_CANONICAL_DEPTH, MAX_PART_BYTES, readJson } from "@flyball/evidence"
import type { JsonMap, PartContent } from "./record.ts"

/** The members of a part, or why they are not known. */
export type PartMembers =
  | { readonly state: "known"; readonly members: JsonMap }
  | { readonly state: "absent" | "erased" | "withheld" | "missing" | "unreadable" }

/**
 * Reads a part as a JSON object. A record that names no such part gives `absent`; what is over `maxBytes`, which no
 * service writes, `unreadable`.
 */
export const partMembers = (part: PartContent | undefined, maxBytes: number = MAX_PART_BYTES): PartMembers => {
  if (part === undefined) return { state: "absent" }
  if (part.state !== "present") return { state: part.state }
  // A part may be the work of who wants the reader to fail: its size and depth are known before anything is made of it.
  const read = readJson(part.bytes, { maxBytes, maxDepth: MAX_CANONICAL_DEPTH })
  if (!read.ok || typeof read.value !== "object" || read.value === null || Array.isArray(read.value))
    return { state: "unreadable" }
  return { state: "known", members: read.value as JsonMap }
}
