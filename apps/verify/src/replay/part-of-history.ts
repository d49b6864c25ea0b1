/**
 * Compares a pack of the chain before with the description of that chain in record 0, where the pack does not hold all
 * of it. Decision 0010.
 */
import {
  formatCheckpoint,
  formatNote,
  fromHex,
  parseCheckpoint,
  parseNote,
  type Previous,
  signatureLine,
  utf8
} from "@flyball/evidence"
import { verifyPackOf } from "../pack-file.ts"
import type { Given } from "./earlier-packs.ts"

/**
 * Says how much of the retired chain a whole pack of it holds; null where the two are not one history.
 *
 * Record 0 names two heads: the last one that was signed for, and what was stored. A pack that reaches either is
 * computed up to it. One that reaches neither may be the beginning of the
 * chain or of another one: it is called neither.
 */
export const partOfHistory = async (
  { origin, pack, size }: Given,
  { checkpoint, storedRootHex, storedSize }: Previous
): Promise<string | null> => {
  const agreesWith = async (note: string): Promise<"same" | "other" | "not reached"> => {
    // Without a key a checkpoint is believed as it is given: record 0, which was believed already, says it.
    const { findings, verdicts } = await verifyPackOf(pack, { vkeys: [], trustedCheckpoint: note })
    return verdicts.anchoring === "consistent_with_trusted_checkpoint"
      ? "same"
      : findings.some(({ code }) => code === "E_ROLLBACK")
        ? "not reached"
        : "other"
  }
  const stored = await agreesWith(unsignedNote(origin, storedSize, storedRootHex))
  if (stored === "same")
    return (
      `${pack.name} holds ${size} records of ${origin}, but this chain continues after the first ` +
      `${storedSize}. ${NOT_USED} Give a pack that ends there.`
    )
  if (stored === "other") return null
  const covered = checkpoint === null ? null : sizeOf(checkpoint)
  const signed = covered === null ? "not reached" : await agreesWith(checkpoint!)
  if (signed === "other") return null
  if (signed === "not reached")
    return (
      `${pack.name} holds ${size} of ${storedSize} records of ${origin}; this pack does not show ` +
      `whether they are its first. ${NOT_USED} Ask the operator for a newer one.`
    )
  if (size !== covered)
    return (
      `${pack.name} holds ${size} of ${storedSize} records of ${origin}; the first ${covered} are ` +
      `proved to be its own, and this pack does not show it of the others. ${NOT_USED}`
    )
  return (
    `${pack.name} holds the first ${size} of ${storedSize} records of ${origin}: it agrees with the last ` +
    `checkpoint of that chain that record 0 names. No checkpoint covered the ${storedSize - size} after ` +
    `them when it was retired, and no pack of it has them. ${NOT_USED}`
  )
}

const NOT_USED = "The state carried over from that chain is not known from it alone."

/** Null where it is none: a pack may say anything of the chain before it. */
const sizeOf = (note: string): number | null => {
  const parsed = parseNote(utf8(note))
  const read = parsed.ok ? parseCheckpoint(parsed.note.text) : null
  return read?.ok === true ? read.checkpoint.size : null
}

/** A note is read only with a line that has the form of a signature; nobody made this one, and none is required. */
const unsignedNote = (origin: string, size: number, rootHex: string): string =>
  formatNote(formatCheckpoint({ origin, size, root: fromHex(rootHex)! }), [
    signatureLine(origin, new Uint8Array(4), new Uint8Array(64))
  ])
