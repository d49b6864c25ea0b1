/**
 * Which records have a body that a verifier reads. Apart from `record-bodies.ts`, which reads them and needs much that
 * a checking thread would load for nothing.
 */
import type { RecordScanner } from "../record/scan.ts"

/**
 * Whether a verifier reads the body of the record just scanned: record 0, and three kinds in a million records, told
 * apart by one letter almost always.
 */
export const hasBodyToCheck = (scanner: RecordScanner, bytes: Uint8Array): boolean => {
  const first = bytes[scanner.kindStart]
  return (
    scanner.seq === 0 ||
    ((first === LETTER_C || first === LETTER_K || first === LETTER_P) && KINDS.some((kind) => scanner.kindIs(kind)))
  )
}

const LETTER_C = 0x63
const LETTER_K = 0x6b
const LETTER_P = 0x70
const KINDS = ["chain.genesis", "key.rotated", "part.erased"]
