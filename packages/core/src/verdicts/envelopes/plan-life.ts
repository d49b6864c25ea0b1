/** Plans what is done to an envelope in its life: draft, publish, withdraw. Pure. */
import { detailItem, EnvelopeNotInForce, InvalidInput } from "@flyball/contract"
import { canonicalBytes, type Crypto } from "@flyball/evidence"
import { Result } from "effect"
import { reasonPart } from "../../registry/agents/parts.ts"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { JsonMap } from "@flyball/rules"
import type { EventDraft } from "../../storage/outbox/outbox.ts"
import type { ChangeSet, DocumentPut, JsonObject, PartDraft } from "../../storage/port.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import {
  type DraftDocument,
  ENVELOPE_VERSIONS,
  type EnvelopeDocument,
  type VersionDocument,
  versionId
} from "@flyball/rules"
import { putEnvelope, type StoredEnvelope } from "./stored-envelope.ts"

/** An act that was decided: the envelope after it, and the change. */
export interface EnvelopePlan {
  readonly envelope: EnvelopeDocument
  readonly change: ChangeSet
}

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
 * Whether the draft says this already, with this writer among its authors: writing it again would change nothing. What
 * was erased is written again.
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

/** A publication: a draft or a version on trial, with all findings about it. */
export interface Publication {
  readonly candidate: Draft & { readonly authors: ReadonlyArray<string> }
  readonly mode: VersionDocument["mode"]
  readonly change: VersionDocument["change"]
  readonly lint: JsonObject
  readonly diff: JsonObject
  readonly backtest: JsonObject
}

/** Decides what publishing would change. The service has passed the publication gate before. */
export const planPublish = (
  crypto: Crypto,
  { body, id, version }: StoredEnvelope,
  publication: Publication,
  writer: Writer,
  epoch: DocumentPut
): EnvelopePlan & { readonly published: VersionDocument } => {
  const { backtest, candidate, change, diff, lint, mode } = publication
  const number = body.latest + 1
  const parts = [
    ["backtest", backtest],
    ["diff", diff],
    ["envelope", candidate.json],
    ["lint", lint]
  ].map(([name, value]): PartDraft => ({ name: name as string, bytes: canonicalBytes(value) }))
  const digestOf = (name: string): string => crypto.sha256Hex(parts.find((part) => part.name === name)!.bytes)
  const published: VersionDocument = {
    envelopeId: id,
    version: number,
    digest: candidate.digest,
    mode,
    change,
    authors: candidate.authors,
    publishedBy: writer.id,
    lintDigest: digestOf("lint"),
    diffDigest: digestOf("diff"),
    backtestDigest: digestOf("backtest"),
    envelope: candidate.json
  }
  const envelope: EnvelopeDocument = {
    ...(mode === "shadow" ? body : withoutReason(body)),
    latest: number,
    draft: null,
    ...(mode === "shadow" ? { shadow: number } : { live: number, shadow: null, withdrawn: false })
  }
  return {
    envelope,
    published,
    change: {
      puts: [
        putEnvelope(id, version, envelope),
        {
          collection: ENVELOPE_VERSIONS,
          id: versionId(id, number),
          expectedVersion: 0,
          body: published as unknown as DocumentPut["body"],
          keys: { envelope_id: id }
        },
        epoch
      ],
      records: [
        {
          kind: "envelope.published",
          agentId: body.agentId,
          body: omitNullish({
            agent_id: body.agentId,
            approver: candidate.authors.includes(writer.id) ? null : writer.id,
            authors: candidate.authors,
            backtest_digest: published.backtestDigest,
            change,
            diff_digest: published.diffDigest,
            digest: candidate.digest,
            envelope_id: id,
            lint_digest: published.lintDigest,
            mode,
            version: number,
            writer: writer.id
          }) as JsonObject,
          parts
        }
      ],
      events: [
        event("envelope.published", {
          envelope_id: id,
          version: number,
          digest: `sha256:${candidate.digest}`,
          agent_id: body.agentId,
          mode,
          change,
          writer: writer.id
        })
      ]
    }
  }
}

/**
 * Decides what withdrawing an envelope would change: nothing is in force for its target any more, and everything is
 * denied. One person does it, since it only tightens.
 *
 * `lowered`: the events of the agents that act at a lower tier without it.
 *
 * - Fails: `EnvelopeNotInForce` when nothing is in force or on trial.
 */
export const planWithdraw = (
  { body, id, version }: StoredEnvelope,
  reason: string | null,
  writer: Writer,
  epoch: DocumentPut,
  lowered: ReadonlyArray<EventDraft>
): Result.Result<EnvelopePlan, EnvelopeNotInForce> => {
  if ((body.live === null || body.withdrawn) && body.shadow === null) return Result.fail(new EnvelopeNotInForce())
  const envelope: EnvelopeDocument = {
    ...withoutReason(body),
    ...(reason === null ? {} : { withdrawalReason: reason }),
    withdrawn: body.live !== null,
    shadow: null
  }
  return Result.succeed({
    envelope,
    change: {
      puts: [putEnvelope(id, version, envelope), epoch],
      records: [
        {
          kind: "envelope.withdrawn",
          agentId: body.agentId,
          body: { envelope_id: id, writer: writer.id },
          parts: reasonPart(reason)
        }
      ],
      events: envelope.withdrawn ? lowered : []
    }
  })
}

/** The envelope without what was said with its last withdrawal. */
export const withoutReason = ({ withdrawalReason: _, ...body }: EnvelopeDocument): EnvelopeDocument => body
