/** Computes how many records of a retired chain its last checkpoint covers. Pure. */
import { parseCheckpoint, parseNote, type Previous, utf8 } from "@flyball/evidence"

/**
 * Records under the checkpoint that record 0 names; 0 where it names none. Records after them are in no pack, because
 * nobody signs for that chain any more. Spec: decision 0010.
 */
export const coveredOf = ({ checkpoint }: Previous): number => {
  const parsed = checkpoint === null ? null : parseNote(utf8(checkpoint))
  const read = parsed?.ok === true ? parseCheckpoint(parsed.note.text) : null
  return read?.ok === true ? read.checkpoint.size : 0
}
