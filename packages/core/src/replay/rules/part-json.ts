/** Reads the JSON of a part that we wrote ourselves. */
import { fromUtf8 } from "@flyball/evidence"
import type { JsonMap, PartContent } from "./types.ts"

/** The members of a part, or why they are not known. */
export type PartMembers =
  | { readonly state: "known"; readonly members: JsonMap }
  | { readonly state: "absent" | "erased" | "withheld" | "missing" | "unreadable" }

/** Reads a part as a JSON object. A record that names no such part gives `absent`. */
export const partMembers = (part: PartContent | undefined): PartMembers => {
  if (part === undefined) return { state: "absent" }
  if (part.state !== "present") return { state: part.state }
  const text = fromUtf8(part.bytes)
  if (text === null) return { state: "unreadable" }
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { state: "known", members: value as JsonMap } : { state: "unreadable" }
  } catch {
    return { state: "unreadable" }
  }
}
