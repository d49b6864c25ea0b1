/**
 * The text of one guard file: five lines.
 *
 *     flyball-guard/v1
 *     <origin>
 *     <size, decimal>
 *     <root, 64 hex digits>
 *     <SHA-256 of the four lines above, 64 hex digits>
 */
import { utf8 } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import type { SignedState } from "@flyball/core"

const HEADER = "flyball-guard/v1"

/** The bytes of a guard file. */
export const formatGuardState = (state: SignedState): Uint8Array => {
  const text = `${HEADER}\n${state.origin}\n${state.size}\n${state.rootHex}\n`
  return utf8(`${text}${digest(text)}\n`)
}

/** Reads a guard file; null when it is anything else, be it by one bit. */
export const parseGuardState = (text: string): SignedState | null => {
  const match =
    /^(flyball-guard\/v1\n([\x21-\x2a\x2c-\x7e]{1,255})\n([1-9][0-9]{0,15})\n([0-9a-f]{64})\n)([0-9a-f]{64})\n$/.exec(
      text
    )
  if (match === null || digest(match[1]!) !== match[5]!) return null
  const size = Number(match[3]!)
  return Number.isSafeInteger(size) ? { origin: match[2]!, size, rootHex: match[4]! } : null
}

const digest = (text: string): string => nodeCrypto.sha256Hex(utf8(text))
