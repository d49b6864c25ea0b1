/** The arguments of an action as one value: what is judged is what is witnessed. */
import { canonicalBytes, equalBytes, fromUtf8 } from "@flyball/evidence"
import type { Json } from "../wire.ts"

/** A copy of the arguments. Throws where they have no RFC 8785 form: then no digest could name them. */
export const snapshotOf = (args: Json): Json => JSON.parse(fromUtf8(canonicalBytes(args as never))!) as Json

/** True while the arguments are those of the copy. */
export const isUnchanged = (args: Json, snapshot: Json): boolean => {
  try {
    return equalBytes(canonicalBytes(args as never), canonicalBytes(snapshot as never))
  } catch {
    return false
  }
}
