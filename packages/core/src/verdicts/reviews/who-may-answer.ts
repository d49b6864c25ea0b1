/** How a person relates to those who may not answer a review, nor grant a standing approval from it. */
import { ENVELOPE_VERSIONS, type ReviewDocument, type VersionDocument, versionId } from "@flyball/rules"
import { Effect } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import type { StoredAgent } from "../../registry/agents/document.ts"
import { type SecondPerson, secondPerson } from "../../registry/principals/second-person.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"

/** Compares a person with the requester, and with the authors of the versions that the review was opened under. */
export const toRequesterAndAuthors = Effect.fnUntraced(function* (
  storage: StorageApi,
  { layers, requestedBy }: Pick<ReviewDocument, "layers" | "requestedBy">,
  writer: Writer
): Effect.fn.Return<SecondPerson, ReadFault> {
  const authors: Array<string> = [requestedBy]
  for (const { envelopeId, version } of layers) {
    const document = yield* storage.get(ENVELOPE_VERSIONS, versionId(envelopeId, version))
    if (document !== null) authors.push(...(document.body as VersionDocument).authors)
  }
  return yield* secondPerson(storage, authors, writer)
})

/** Reports whether the address that the issuer says is a person's is the owner's. */
export const isOwnerOf = ({ body: { ownerEmail } }: StoredAgent, email: string | null): boolean =>
  email !== null && ownerEmail !== null && email.toLowerCase() === ownerEmail.toLowerCase()
