/** The writer of a record: an ingest key, a person's pseudonym, a rule, or the host. Never a name or an address. */
import { serviceWriters } from "@flyball/rules"

/** The author of a change, as its record names it. Spec: format 1 section 7. */
export interface Writer {
  /**
   * `key_…` (ingest), `pky_…` (platform), `usr_…`, `system:<name>`, or `policy:<name>` and `breaker:<name>`
   * where a rule acted by itself.
   */
  readonly id: string
}

const WRITER = /^(?:(?:key|pky|usr)_[0-9a-hjkmnp-tv-z]{26}|(?:system|policy|breaker):[a-z0-9_-]{1,64})$/

/** Reports whether a text is a valid writer of records. Spec: format 1 section 7. */
export const isWriterId = (text: unknown): text is string => typeof text === "string" && WRITER.test(text)

/** Reports whether a caller can name this writer: nobody acts in the name of a rule or of the service. */
export const isCallersWriterId = (text: unknown): text is string =>
  isWriterId(text) && !/^(?:policy|breaker):/.test(text) && !(serviceWriters as ReadonlyArray<string>).includes(text)

/** Reports whether a writer is an ingest key. */
export const isIngestKey = ({ id }: Writer): boolean => id.startsWith("key_")

/** The host process: the default writer. Spec: format 1 section 7. */
export const systemHost: Writer = { id: "system:host" }
