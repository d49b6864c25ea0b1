/** Timestamped Ed25519 cosignatures, type 0x04. Spec: C2SP tlog-cosignature. */
import { concatBytes, utf8 } from "../bytes.ts"

/** A parsed cosignature. */
export interface Cosignature {
  /** Seconds since 1970, as the cosigner states it. */
  readonly timeS: number
  readonly signature: Uint8Array
  /** Returns the signed message for a checkpoint text. */
  readonly message: (checkpointText: Uint8Array) => Uint8Array
}

/**
 * Parses the payload of a signature line of type 0x04; null if it is malformed, or its time is beyond 2^53. Spec:
 * format 1 section 4; C2SP tlog-cosignature.
 */
export const readCosignature = (payload: Uint8Array): Cosignature | null => {
  if (payload.length !== TIME_BYTES + SIGNATURE_BYTES) return null
  const time = new DataView(payload.buffer, payload.byteOffset).getBigUint64(0)
  if (time > BigInt(Number.MAX_SAFE_INTEGER)) return null
  const timeS = Number(time)
  return { timeS, signature: payload.subarray(TIME_BYTES), message: (text) => cosignatureMessage(timeS, text) }
}

/**
 * The payload of a signature line of type 0x04: the time `timeS` in seconds since 1970 UTC, then the signature. Spec:
 * format 1 section 4; C2SP tlog-cosignature.
 */
export const writeCosignature = (timeS: number, signature: Uint8Array): Uint8Array => {
  const time = new Uint8Array(TIME_BYTES)
  new DataView(time.buffer).setBigUint64(0, BigInt(timeS))
  return concatBytes(time, signature)
}

/**
 * Builds the message that a cosigner signs: its time `timeS` in seconds since 1970, then the text of the checkpoint.
 * Spec: format 1 section 4; C2SP tlog-cosignature.
 */
export const cosignatureMessage = (timeS: number, checkpointText: Uint8Array): Uint8Array =>
  concatBytes(utf8(`cosignature/v1\ntime ${timeS}\n`), checkpointText)

const TIME_BYTES = 8
const SIGNATURE_BYTES = 64
