/** Plans the restatement of an ingest key of which an earlier version kept the first characters. Decision 0037. */
import { canonicalBytes } from "@flyball/evidence"
import type { ChangeSet } from "../../storage/port.ts"
import { INGEST_KEYS } from "./document.ts"
import type { IngestKeyDocument } from "@flyball/rules"

/** The rule that restates keys. */
const WRITER = "policy:ingest_key_hint"
/** Scope of no once key. */
const NO_SCOPE = "ingest_key.restated"

/** Inputs for restating a key, as read from the store. */
export interface RestateCommand {
  readonly keyId: string
  readonly key: IngestKeyDocument
  readonly version: number
  /**
   * The record of this chain that minted the key, while its part `profile` is there. Null where it is not, or where the
   * chain before this one minted the key.
   */
  readonly mintedSeq: number | null
}

/** Whether this document holds characters of the key. */
export const holdsCharacters = (key: IngestKeyDocument): boolean => key.prefix !== undefined && key.prefix !== null

/**
 * Decides what restating a key would change: a record says its name and org unit again, the part that also held
 * characters of the key goes, and the document forgets them. Null where there are none.
 *
 * - Fails: never.
 */
export const planRestate = ({ key, keyId, mintedSeq, version }: RestateCommand): ChangeSet | null => {
  if (!holdsCharacters(key)) return null
  const { prefix: _, ...kept } = key
  return {
    puts: [
      { collection: INGEST_KEYS, id: keyId, expectedVersion: version, body: kept, unique: { digest: key.digest } }
    ],
    records: [
      {
        kind: "ingest_key.restated",
        agentId: null,
        body: { key_id: keyId, writer: WRITER },
        parts: [{ name: "profile", bytes: canonicalBytes({ name: key.name, org_unit: key.orgUnit }) }]
      },
      ...(mintedSeq === null
        ? []
        : [
            {
              kind: "part.erased",
              agentId: null,
              body: { name: "profile", reason: "security", seq: mintedSeq },
              parts: [{ name: "authority", bytes: canonicalBytes({ writer: WRITER }) }]
            }
          ])
    ],
    erase: mintedSeq === null ? [] : [{ seq: mintedSeq, name: "profile" }],
    // No such key is taken. A store that forgets something wipes its log before it answers, also where no part is
    // erased.
    forget: [{ scope: NO_SCOPE, key: keyId }]
  }
}
