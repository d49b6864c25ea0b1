/** Folds `principal.seen` into the document it says there is. */
import { partMembers } from "../records/part-json.ts"
import type { ExpectedDocument, ReplayRecord } from "../records/record.ts"
import { identityMembers, type PrincipalDocument } from "./document.ts"
import { identityDigest } from "./identity-digest.ts"

/** The document after `principal.seen`. */
export const foldPrincipalSeen = (record: ReplayRecord): ExpectedDocument => {
  const identity = partMembers(record.parts.get("identity"))
  const known =
    identity.state === "known"
      ? { issuer: String(identity.members["issuer"]), subject: String(identity.members["subject"]) }
      : null
  const body: PrincipalDocument = {
    kind: String(record.body["kind"]),
    issuer: known?.issuer ?? null,
    subject: known?.subject ?? null
  }
  return {
    collection: "principals",
    id: String(record.body["principal_id"]),
    body,
    unique: known === null ? {} : { identity: identityDigest(known.issuer, known.subject) },
    unknown: known === null && identity.state !== "erased" ? identityMembers : [],
    erased: identity.state === "erased" ? identityMembers : [],
    personal: identityMembers
  }
}
