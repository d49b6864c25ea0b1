/** The order of a pack's lines, one table for writer and reader. Spec: format 1 section 5. */
import type { PackKind } from "./format.ts"

/** The tags that may follow a tag, as one text of single letters. `""` after N: nothing follows it. */
export const tagsAfter = (kind: PackKind, tag: string): string => (kind === "sparse" ? SPARSE : RANGE)[tag] ?? ""

/** `body`: the tags that may stand where the records begin. `record`: what may follow R, and I. */
const orderOf = (body: string, afterRecord: string, afterProof: string): { readonly [tag: string]: string } => ({
  H: "C",
  C: `GWK${body}`,
  G: "X",
  X: `WK${body}`,
  W: `WK${body}`,
  K: `K${body}`,
  R: afterRecord,
  I: afterProof,
  S: "DEZ",
  D: "DEZ",
  E: "EZ",
  Z: "N"
})

/** A range or full pack: records, then the hashes beside them. */
const RANGE = orderOf("RS", "RS", "")
/** A sparse pack: each record with its proof, or none at all. */
const SPARSE = orderOf("RDEZ", "I", "RDEZ")
