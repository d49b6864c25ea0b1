/** Computes the row of the table of idempotency keys that a record requires. */
import { type Crypto, decisionId, fromUtf8, readJson, type RecordView, utf8 } from "@flyball/evidence"
import { contentDigest } from "../../verdicts/content/content-digest.ts"
import { SETTLE_SCOPE } from "../../verdicts/capture/plan-settle.ts"
import { ROTATION_SCOPE } from "../../chain/plan-rotate.ts"
import { requestDigest, voidDigest } from "../../verdicts/evaluations/plan-evaluate.ts"
import { presentedKey } from "../../verdicts/reviews/presentation.ts"
import { epochKey, expectedKey } from "../../verdicts/kill/epoch-key.ts"
import { evalKey } from "../../screens/evals/plan-record-eval.ts"
import { FINDING_SCOPE, keyOfId, LISTING_SCOPE } from "../../screens/mcp/plan-record-list.ts"
import { EVALUATION_SCOPE, EXTRACTION_SCOPE, PRESENTED_SCOPE, REVIEW_SCOPE, VOID_SCOPE } from "@flyball/rules"
import type { JsonObject, StoredPart } from "../../storage/port.ts"
import { REVOKE_SCOPE as WEBHOOK_REVOKED, REVOKED_DIGEST } from "../webhooks/plan-revoke.ts"

/**
 * The row that a record requires in the table of idempotency keys. `digest`: null for a forgotten one; undefined where
 * it does not follow from the records.
 */
export interface ExpectedIdempotencyKey {
  readonly scope: string
  readonly key: string
  readonly digest: string | null | undefined
}

/** Inputs that the record itself does not contain. */
export interface KeyContext {
  readonly originTag: Uint8Array
  /** Time of a record; undefined where it is missing. */
  readonly atMsOf: (seq: number) => number | undefined
  /** The signing key before this record; null where a record before it names none. */
  readonly vkey: string | null
  /** SHA-256 of an ingest or platform key; undefined where no record has it. */
  readonly keyDigest: (keyId: string) => string | undefined
}

/**
 * The members of a decision's body that the server adds, and the writer's claim of how it captured it. All others are
 * what the caller said. Decision 0002.
 */
const WITNESS_FRAME = ["agent_id", "agent_status", "capture", "writer"]
const SETTLE_FRAME = ["agent_id", "decision_seq", "evaluation_seq", "writer"]

/** Kinds whose digest is made over parts too. */
export const kindsWithContent: ReadonlySet<string> = new Set([
  "decision.witnessed",
  "decision.settled",
  "evaluation.made"
])

/**
 * Computes the row that this record requires in the table; null where it uses no key, or contains too little to
 * determine it.
 */
export const expectedIdempotencyKey = (
  crypto: Crypto,
  { body, kind, parts: named }: RecordView,
  parts: ReadonlyArray<StoredPart>,
  context: KeyContext
): ExpectedIdempotencyKey | null => {
  const text = (member: string): string => String(body[member])
  switch (kind) {
    case "decision.witnessed":
      return {
        scope: text("agent_id"),
        key: text("client_ref"),
        digest: ofContent(named.length, parts, (there) => contentDigest(crypto, said(body, WITNESS_FRAME), there))
      }
    case "decision.settled": {
      const seq = Number(body["decision_seq"])
      const atMs = context.atMsOf(seq)
      if (atMs === undefined) return null
      return {
        scope: SETTLE_SCOPE,
        key: decisionId(atMs, seq, context.originTag),
        digest: ofContent(named.length, parts, (there) => contentDigest(crypto, said(body, SETTLE_FRAME), there))
      }
    }
    case "evaluation.made":
      return {
        scope: EVALUATION_SCOPE,
        key: text("evaluation_id"),
        digest: ofContent(named.length, parts, (there) => ofRequested(crypto, body, there))
      }
    case "mcp.manifest_seen":
      return keyOfId(LISTING_SCOPE, text("listing_id"))
    case "mcp.manifest_changed":
      return keyOfId(FINDING_SCOPE, text("finding_id"))
    case "extraction.completed":
      return { scope: EXTRACTION_SCOPE, key: text("extraction_id"), digest: text("document_digest") }
    case "eval.recorded":
      return evalKey(text("eval_run_id"))
    case "meter.voided":
      return { scope: VOID_SCOPE, key: text("evaluation_id"), digest: voidDigest(crypto, text("evaluation_id")) }
    case "kill.activated":
    case "kill.released":
      return epochKey(kind, text("activation_id"), Number(body["epoch"]))
    case "kill.expected":
      return expectedKey(text("activation_id"))
    case "review.opened":
      return { scope: REVIEW_SCOPE, key: text("review_id"), digest: text("action_digest") }
    case "review.presented": {
      const key = presentedKey(text("review_id"), text("writer"), text("presented_digest"))
      return { scope: PRESENTED_SCOPE, key, digest: contentDigest(crypto, key, []) }
    }
    case "ingest_key.revoked":
    case "platform_key.revoked":
      // The scope of a revocation is its kind.
      return { scope: kind, key: text("key_id"), digest: context.keyDigest(text("key_id")) }
    case "webhook.revoked":
      return { scope: WEBHOOK_REVOKED, key: text("webhook_id"), digest: REVOKED_DIGEST }
    case "key.rotated":
      return context.vkey === null
        ? null
        : { scope: ROTATION_SCOPE, key: context.vkey, digest: crypto.sha256Hex(utf8(text("to_vkey"))) }
    default:
      return null
  }
}

type Content = ReadonlyArray<{ readonly name: string; readonly bytes: Uint8Array }>

/**
 * A digest over parts goes with the first of them that is erased. The check of the chain reports a part that is neither
 * there nor erased.
 */
const ofContent = (
  named: number,
  parts: ReadonlyArray<StoredPart>,
  digest: (parts: Content) => string | undefined
): string | null | undefined => {
  const there: Array<Content[number]> = []
  for (const part of parts) {
    if (part.erasedBy !== null) return null
    there.push({ name: part.name, bytes: part.bytes })
  }
  return there.length === named ? digest(there) : undefined
}

/** The RFC 8785 text of the body without these members. A stored body has its members in order. */
const said = (body: JsonObject, frame: ReadonlyArray<string>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(body).filter(([name]) => !frame.includes(name))))

const ofRequested = (crypto: Crypto, body: JsonObject, parts: Content): string | undefined => {
  const partOf = (name: string): Uint8Array | undefined => parts.find((part) => part.name === name)?.bytes
  const member = (name: string): string | null => (typeof body[name] === "string" ? body[name] : null)
  const signals = partOf("signals")
  const action = textOf(partOf("action"))
  if (signals === undefined || action === undefined) return undefined
  const digest = member("action_digest")
  return requestDigest(
    crypto,
    {
      action,
      action_digest: digest === null ? null : `sha256:${digest}`,
      agent_id: String(body["agent_id"]),
      approval_id: member("approval_id"),
      args_redacted: body["args_redacted"] === true ? true : null,
      client_ref: String(body["client_ref"]),
      extraction_id: member("extraction_id"),
      instance_id: member("instance_id"),
      run_id: member("run_id")
    },
    signals,
    partOf("args") ?? null
  )
}

/** The text in a part; null where there is no part, undefined where it holds something else. */
const textOf = (bytes: Uint8Array | undefined): string | null | undefined => {
  if (bytes === undefined) return null
  const read = readJson(bytes, { maxBytes: bytes.length, maxDepth: 1 })
  return read.ok && typeof read.value === "string" && fromUtf8(bytes) === JSON.stringify(read.value)
    ? read.value
    : undefined
}
