/** The canonical bytes of a record's body. */
import type { JsonObject } from "@flyball/core/storage"
import { encodeRecord } from "@flyball/evidence"

const at = "1970-01-01T00:00:00.000Z"
const prev = "0".repeat(64)
/** Everything before the body has the same length in every record. */
const headLength = `{"at":"${at}","body":`.length
/** Everything after it but the kind, in a record without parts at seq 0. */
const tailLength = `,"kind":"","parts":[],"prev":"${prev}","seq":0,"v":1}`.length

/**
 * The bytes of a body as they will stand in its record.
 *
 * The body is written by the one writer of the format, inside a record that is thrown away: what it refuses is refused here,
 * on the host, before the worker sees it. The worker puts the true frame around these bytes.
 *
 * - Fails: throws `RecordUnwritable`, a bug of the planner.
 */
export const bodyBytes = (kind: string, body: JsonObject): Uint8Array => {
  const record = encodeRecord({ at, body, kind, parts: [], prev, seq: 0 })
  return record.subarray(headLength, record.length - tailLength - kind.length)
}
