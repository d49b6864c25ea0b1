/** Plans the first sight of a person. */
import { canonicalBytes } from "@flyball/evidence"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import { type PrincipalDocument, identityDigest } from "@flyball/rules"

/** Collection of the principals. */
export const PRINCIPALS = "principals"

/**
 * Plans the registration of a person who is seen for the first time: a pseudonym, and the identity behind it in a part
 * that can be erased.
 *
 * - Fails: never.
 * - Spec: design section 4, records carry a user pseudonym; decision 0006.
 */
export const planRegisterPrincipal = (principalId: string, issuer: string, subject: string): ChangeSet => {
  const principal: PrincipalDocument = { kind: "user", issuer, subject }
  return {
    puts: [
      {
        collection: PRINCIPALS,
        id: principalId,
        expectedVersion: 0,
        body: principal,
        unique: { identity: identityDigest(issuer, subject) }
      }
    ],
    records: [
      {
        kind: "principal.seen",
        agentId: null,
        body: { kind: principal.kind, principal_id: principalId } satisfies JsonObject,
        parts: [{ name: "identity", bytes: canonicalBytes({ issuer, subject }) }]
      }
    ]
  }
}
