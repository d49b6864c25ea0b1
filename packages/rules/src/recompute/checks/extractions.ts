/**
 * Recomputes extractions: facts and names from the fields, and the fields from the text of the document where it is
 * shown. Spec: decision 0084.
 */
import {
  canonicalBytes,
  type DecisionBody,
  equalBytes,
  type ExtractionCompletedBody,
  type ExtractionFailedBody
} from "@flyball/evidence"
import { MODEL_RULE } from "../../documents/confidence.ts"
import type { DocumentType, ExtractedDocument, ReadDocument } from "../../documents/document.ts"
import { extractFields } from "../../documents/extract.ts"
import { documentFacts, type DocumentFacts } from "../../documents/facts.ts"
import type { ModelSaid } from "../../documents/model.ts"
import { partMembers } from "../../records/part-json.ts"
import type { Json, PartContent, ReplayRecord } from "../../records/record.ts"
import { RULES } from "../../records/rules-version.ts"
import { DOCUMENTS_WRITER, GATEWAY_WRITER } from "../../records/writers-of-kinds.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** Scope of the idempotency keys of completed extractions: their ids. */
export const EXTRACTION_SCOPE = "extraction"
/** The rule that ends extractions whose process ended. */
export const EXTRACTION_WRITER = "policy:extraction"

/** The action that is evaluated before a document is read. */
export const EXTRACT_ACTION = "documents.extract"

const wrong = (reason: string): Problem => problem("extraction_mismatch", reason)

/** Outcomes that are kept: more than documents are read at once. */
const MAX_OUTCOMES = 10_000

/** An extraction as an evaluation may name it. */
export interface KnownExtraction {
  readonly agentId: string | null
  readonly orgUnitDigest: string
  readonly facts: DocumentFacts
}

interface Witnessed {
  readonly agentId: string
  readonly status: string
  readonly args: PartContent | undefined
}

/** The extractions of a chain. It grows with documents. */
export class ExtractionJudge {
  /** By id; null: it failed. */
  readonly #known = new Map<string, KnownExtraction | null>()
  /** Outcomes of evaluations of {@link EXTRACT_ACTION} until their decision, which comes soon. */
  readonly #outcomes = new Map<string, { readonly outcome: string; readonly args: PartContent | undefined }>()
  /** Decisions until their extraction, which comes next. */
  readonly #witnessed = new Map<string, Witnessed>()
  /** The latest calls of models, by the name of their decision: an extraction names one that just ended. */
  readonly #calls = new Map<string, DecisionBody>()
  readonly #isOfUnit: (agentId: string, digest: string) => boolean | null
  readonly #fromGenesis: boolean

  constructor(isOfUnit: (agentId: string, digest: string) => boolean | null, fromGenesis: boolean) {
    this.#isOfUnit = isOfUnit
    this.#fromGenesis = fromGenesis
  }

  /** The extraction of an id; undefined where no record shown is of it. */
  get(id: string): KnownExtraction | null | undefined {
    return this.#known.get(id)
  }

  /** Judges a record that matches the catalogue. */
  take(record: ReplayRecord): Problem | null {
    const { body, kind } = record
    switch (kind) {
      case "evaluation.made":
        if (!String(body["client_ref"]).startsWith("ext_")) return null
        if (this.#outcomes.size >= MAX_OUTCOMES) this.#outcomes.clear()
        this.#outcomes.set(String(body["evaluation_id"]), {
          outcome: String(body["outcome"]),
          args: record.parts.get("args")
        })
        return null
      case "decision.witnessed":
        if (body["writer"] === GATEWAY_WRITER) this.#call(body as unknown as DecisionBody)
        return body["writer"] === DOCUMENTS_WRITER ? this.#decision(body as unknown as DecisionBody) : null
      case "extraction.completed": {
        const completed = body as unknown as ExtractionCompletedBody
        this.#known.set(completed.extraction_id, {
          agentId: completed.agent_id ?? null,
          orgUnitDigest: completed.org_unit_digest,
          facts: completed.facts
        })
        return this.#unlike(completed, "ok") ?? this.#called(completed) ?? judgeCompleted(record, completed)
      }
      case "extraction.failed": {
        const failed = body as unknown as ExtractionFailedBody
        const { code, extraction_id: id, writer } = failed
        this.#known.set(id, null)
        const witnessed = this.#unlike(failed, "error")
        if (witnessed !== null) return witnessed
        return (code === "interrupted") === (writer === EXTRACTION_WRITER)
          ? null
          : problem("writer_mismatch", `${writer} does not end an extraction as ${code}.`)
      }
    }
    return null
  }

  /** Finds a difference from the decision and the evaluation of the agent. */
  #unlike(body: ExtractionCompletedBody | ExtractionFailedBody, expected: string): Problem | null {
    const { agent_id: agentId, extraction_id: id } = body
    if (agentId !== undefined && "org_unit_digest" in body && this.#isOfUnit(agentId, body.org_unit_digest) === false)
      return problem("reference_mismatch", `${agentId} is of another org unit.`)
    const witnessed = this.#witnessed.get(id)
    this.#witnessed.delete(id)
    if (witnessed === undefined) return null
    if (witnessed.agentId !== agentId) return wrong(`Its decision is of ${witnessed.agentId}.`)
    if (witnessed.status !== expected)
      return wrong(`The decision says ${witnessed.status}; the extraction ended as ${expected}.`)
    const args = partMembers(witnessed.args)
    if (args.state !== "known") return null
    const { bytes, document_digest: digest, media_type: media } = args.members
    return bytes === body.bytes && digest === `sha256:${body.document_digest}` && media === body.media_type
      ? null
      : wrong("Its agent was evaluated for another document.")
  }

  #call(body: DecisionBody): void {
    if (body.kind !== "model_call") return
    this.#calls.set(body.client_ref, body)
    if (this.#calls.size > MAX_OUTCOMES) this.#calls.delete(this.#calls.keys().next().value!)
  }

  /** Finds a contradiction by the call of its model. */
  #called({ agent_id: agentId, model }: ExtractionCompletedBody): Problem | null {
    if (model?.call === undefined) return null
    const call = this.#calls.get(model.call)
    if (call === undefined)
      return this.#fromGenesis
        ? problem("reference_mismatch", `No decision before it is the call ${model.call}.`)
        : null
    return call.agent_id === agentId && call.action === model.name && call.status === "ok"
      ? null
      : wrong(`The call ${model.call} is another one: of ${call.action}, for ${call.agent_id}, ${call.status}.`)
  }

  #decision(body: DecisionBody): Problem | null {
    const { action, agent_id: agentId, capture, client_ref: id, evaluation_id: evaluationId, kind, status } = body
    if (capture !== "mediated" || kind !== "tool_call" || action !== EXTRACT_ACTION)
      return wrong(`What is witnessed of a document is a mediated call of ${EXTRACT_ACTION}.`)
    const evaluation = this.#outcomes.get(evaluationId ?? "")
    this.#outcomes.delete(evaluationId ?? "")
    if (evaluation !== undefined && evaluation.outcome !== "allow" && evaluation.outcome !== "allow_with_notice")
      return wrong(`A document was read although the verdict was ${evaluation.outcome}.`)
    if (this.#witnessed.size >= MAX_OUTCOMES) this.#witnessed.clear()
    this.#witnessed.set(id, { agentId, status, args: evaluation?.args })
    return null
  }
}

const judgeCompleted = (record: ReplayRecord, body: ExtractionCompletedBody): Problem | null => {
  // Which rules it names is judged apart.
  if (body.rules !== RULES) return null
  const part = record.parts.get("fields")
  const document = record.parts.get("document")
  const fields = part?.state === "present" ? partMembers(part) : null
  let said: ModelSaid | null | undefined
  if (fields?.state === "known") {
    const found = misstated(fields.members as unknown as Said, body)
    if (found !== null) return found
    said = fields.members["said"] as ModelSaid | null | undefined
    if ((said !== undefined) !== (body.model !== undefined) || (said != null && body.model?.call === undefined))
      return wrong("What its model said is without a model, or without its call.")
  } else if (part?.state === "present") return wrong("The part fields is no object.")
  if (document?.state !== "present")
    return problem("withheld", "The text of the document is not shown: nobody can extract its fields again.")
  const read = partMembers(document)
  if (read.state !== "known") return wrong("The part document is no document.")
  if (body.model !== undefined && part?.state !== "present")
    return problem("withheld", "What its model said is not shown.")
  const extracted = extractedAgain(read.members, body.requested_type ?? null, said)
  if (extracted === null) return wrong("The part document is no document.")
  if (extracted.type !== body.document_type || extracted.confidence !== body.confidence)
    return wrong(`The document is ${extracted.type} at ${extracted.confidence}; the record says otherwise.`)
  const { candidates, fields: again, warnings } = extracted
  if (part?.state === "present")
    return equalBytes(
      canonicalBytes({ candidates, fields: again, ...(said === undefined ? {} : { said }), warnings }),
      part.bytes
    )
      ? null
      : wrong("The document gives other fields.")
  return misstated({ fields: again }, body)
}

interface Said {
  readonly fields: ExtractedDocument["fields"]
}

/** Compares names, confidences and facts of the body with those of the fields. */
const misstated = ({ fields }: Said, body: ExtractionCompletedBody): Problem | null => {
  try {
    if (!isSame(fieldNames(fields) as never, body.fields as never))
      return wrong("The fields have other names or confidences.")
    if (body.model === undefined && Object.values(fields).some(({ evidence }) => evidence.rule === MODEL_RULE))
      return wrong("A field is of a model, and the record names none.")
    const facts = documentFacts({ confidence: body.confidence, fields })
    return isSame(facts as never, body.facts as never)
      ? null
      : wrong(`The fields give the facts ${JSON.stringify(facts)}; the record says ${JSON.stringify(body.facts)}.`)
  } catch {
    return wrong("The part fields has another shape.")
  }
}

/** The names of fields with their confidences, as a record says them. */
export const fieldNames = (fields: ExtractedDocument["fields"]): ExtractionCompletedBody["fields"] =>
  Object.keys(fields)
    .toSorted()
    .map((name) => ({ confidence: fields[name]!.confidence, name }))

/** A part of another shape than a document's gives null. */
const extractedAgain = (
  read: { readonly [name: string]: Json },
  requested: DocumentType | null,
  said: ModelSaid | null | undefined
) => {
  try {
    return extractFields(read as unknown as ReadDocument, requested, said)
  } catch {
    return null
  }
}

const isSame = (one: Json, other: Json): boolean => equalBytes(canonicalBytes(one), canonicalBytes(other))
