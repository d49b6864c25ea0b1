/** How much of a chain that was put aside its last checkpoint covers. Pure. */
import { parseCheckpoint, parseNote, type Previous, utf8 } from "@flyball/evidence"

/**
 * Records under the checkpoint that record 0 names; 0 where it names none. What lies behind them is in no pack: nobody
 * signs for that chain any more. Decision 0010.
 */
export const coveredOf = ({ checkpoint }: Previous): number => {
  const parsed = checkpoint === null ? null : parseNote(utf8(checkpoint))
  const read = parsed?.ok === true ? parseCheckpoint(parsed.note.text) : null
  return read?.ok === true ? read.checkpoint.size : 0
}
