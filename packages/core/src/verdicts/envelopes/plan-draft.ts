/** Plans the draft of an envelope: begun, and written again. Pure. */
import { detailItem, InvalidInput } from "@flyball/contract"
import { canonicalBytes } from "@flyball/evidence"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { JsonMap, DraftDocument, EnvelopeDocument } from "@flyball/rules"
import type { JsonObject, PartDraft } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { putEnvelope, type StoredEnvelope, type EnvelopePlan } from "./stored-envelope.ts"

/** Content of a draft. */
export interface Draft {
  readonly json: JsonMap
  /** 64 hex digits. */
  readonly digest: string
}

/**
 * Writers of one draft. All of them are remembered, since none of them may be the second person who publishes it: there
 * is no room for one more who would be forgotten.
 */
const MAX_AUTHORS = 64

/** Decides what beginning an envelope would change. That its target has none yet is checked by the commit. */
export const planBegin = (
  id: string,
  start: Pick<EnvelopeDocument, "agentId" | "name" | "orgUnit" | "target">,
  draft: Draft,
  writer: Writer
): EnvelopePlan => {
  const empty: EnvelopeDocument = { ...start, withdrawn: false, live: null, shadow: null, latest: 0, draft: null }
  const profile: PartDraft = {
    name: "profile",
    bytes: canonicalBytes(omitNullish({ name: start.name, org_unit: start.agentId === null ? start.orgUnit : null }))
  }
  return drafted({ id, version: 0, body: empty }, draft, writer, 1, [profile])
}

/**
 * Reports whether the draft says this already, with this writer among its authors: writing it again would change
 * nothing. What was erased is written again.
 */
export const saysAlready = ({ body: { draft } }: StoredEnvelope, { digest }: Draft, writer: Writer): boolean =>
  draft !== null && draft.envelope !== null && draft.digest === digest && draft.authors.includes(writer.id)

/**
 * Decides what writing the draft again would change. What is in force stays.
 *
 * - Fails: `InvalidInput` when 64 others have written on the draft.
 */
export const planDraft = (
  stored: StoredEnvelope,
  draft: Draft,
  writer: Writer
): Result.Result<EnvelopePlan, InvalidInput> => {
  const authors: ReadonlyArray<string> = stored.body.draft?.authors ?? []
  if (authors.length >= MAX_AUTHORS && !authors.includes(writer.id)) {
    return Result.fail(
      new InvalidInput({
        detail: [
          detailItem(["body", "envelope"], "value_error", `Expected at most ${MAX_AUTHORS} writers of one draft`)
        ]
      })
    )
  }
  return Result.succeed(drafted(stored, draft, writer, stored.version + 1, []))
}

const drafted = (
  { body, id, version }: StoredEnvelope,
  { digest, json }: Draft,
  writer: Writer,
  revision: number,
  parts: ReadonlyArray<PartDraft>
): EnvelopePlan => {
  const before = (body.draft?.authors ?? []).filter((author) => author !== writer.id)
  const draft: DraftDocument = {
    revision,
    version: body.latest + 1,
    digest,
    authors: [...before, writer.id],
    envelope: json
  }
  const envelope = { ...body, draft }
  return {
    envelope,
    change: {
      puts: [putEnvelope(id, version, envelope)],
      records: [
        {
          kind: "envelope.drafted",
          agentId: body.agentId,
          body: omitNullish({
            agent_id: body.agentId,
            authors: draft.authors,
            digest,
            envelope_id: id,
            revision,
            version: draft.version,
            writer: writer.id
          }) as JsonObject,
          parts: [{ name: "envelope", bytes: canonicalBytes(json) }, ...parts]
        }
      ]
    }
  }
}
