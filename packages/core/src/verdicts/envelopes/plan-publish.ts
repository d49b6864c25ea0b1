/** Plans the publication of an envelope. Pure. */
import { canonicalBytes, type Crypto } from "@flyball/evidence"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { DocumentPut, JsonObject, PartDraft } from "../../storage/port.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import { ENVELOPE_VERSIONS, type EnvelopeDocument, type VersionDocument, versionId } from "@flyball/rules"
import { putEnvelope, type StoredEnvelope, type EnvelopePlan } from "./stored-envelope.ts"
import type { Draft } from "./plan-draft.ts"
import { withoutReason } from "./plan-withdraw.ts"

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
