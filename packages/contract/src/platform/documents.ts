/** Documents and what is extracted from them, as they travel. Spec: document 2 sections 2, 4 and 8; decision 0084. */
import { documentTypes, documentWarnings, extractionFailures } from "@flyball/evidence/words"
import { Schema } from "effect"
import { check, foreignName, instant, integerParam, leftOut, oneOf, optional, text } from "../foundation/fields.ts"
import { listOf, listQuery, unitQuery } from "./list.ts"
import { requestBounds } from "./plans.ts"

export { documentTypes, documentWarnings, extractionFailures }

/** Statuses of an extraction. The last two are final. Spec: document 2 section 3. */
export const extractionStatuses = ["queued", "processing", "completed", "failed"] as const
export type ExtractionStatus = (typeof extractionStatuses)[number]

/** The longest that a request waits for its fields. Unit: seconds. */
export const MAX_EXTRACTION_WAIT_S = 10

const documentType = oneOf(documentTypes)

/** The model that reads the document beside the rules, through the gateway. */
const model = foreignName(200)
/** Names of fields that a caller wants of a model. */
const FIELD_NAME = /^[a-z][a-z0-9_]{0,63}$/
/** Fields that a caller may want of a model. */
export const MAX_OWN_FIELDS = 50

/** Query of POST /v1/documents/extract. */
export const ExtractQuery = Schema.Struct({
  ...unitQuery,
  document_type: Schema.optionalKey(documentType),
  /** How long to wait for the fields, 0 to 10 seconds. */
  wait: leftOut(integerParam(0, MAX_EXTRACTION_WAIT_S), 0),
  /** `true` when the text of the document is kept, up to 1 MiB, so that anybody can compute the fields again. */
  retain: Schema.optionalKey(oneOf(["true", "false"])),
  model: Schema.optionalKey(model)
})
/** Body of POST /v1/documents/extract where it is JSON: the document as base64, or where it is. */
export const ExtractIn = Schema.Struct({
  content: optional(text(1, Math.ceil(requestBounds.inlineDocumentBytes / 3) * 4)),
  url: optional(text(1, 2_048)),
  /** Media type of the document; of what is at `url`, it may be left out: then its answer states it. */
  media_type: optional(text(1, 200)),
  document_type: optional(documentType),
  model: optional(model),
  /** JSON schema of an object with members of type `string`: what the model reads beside the type's fields. */
  schema: optional(
    Schema.Struct({
      type: oneOf(["object"]),
      properties: Schema.Record(
        Schema.String,
        Schema.Struct({ type: oneOf(["string"]), description: Schema.optionalKey(text(1, 1_000)) })
      ).check(
        check<object>(
          (value) => {
            const names = Object.keys(value)
            return names.length <= MAX_OWN_FIELDS && names.every((one) => FIELD_NAME.test(one))
          },
          { type: "value_error", msg: `Expected up to ${MAX_OWN_FIELDS} names of the form ${FIELD_NAME.source}` }
        )
      )
    })
  )
})

const share = Schema.Number.check(
  check<number>(
    (value) => value >= 0 && value <= 1,
    { type: "value_error", msg: "Input should be a number from 0 to 1" },
    { minimum: 0, maximum: 1 }
  )
)
const field = Schema.Struct({
  value: Schema.String,
  confidence: share,
  /** Where it stands, and what speaks for it. Lengths in hundredths of a point, from the upper left corner. */
  evidence: Schema.Struct({
    page: Schema.NullOr(Schema.Int),
    box: Schema.NullOr(Schema.Array(Schema.Int)),
    rule: Schema.String,
    label: Schema.NullOr(Schema.String),
    checksum: Schema.NullOr(Schema.Boolean),
    arithmetic: Schema.NullOr(Schema.Boolean)
  })
})
const fields = Schema.Record(Schema.String, field)

/** An extraction. Identifying numbers have their last four characters. Spec: document 2 section 2, "Extraction". */
export const Extraction = Schema.Struct({
  id: Schema.String,
  status: oneOf(extractionStatuses),
  /** The requested type until the document was read. */
  document_type: documentType,
  /** The agent that handed it in; null for none. */
  agent_id: Schema.NullOr(Schema.String),
  media_type: Schema.String,
  bytes: Schema.Int,
  /** `sha256:<hex>` of the document. */
  document_digest: Schema.String,
  /** The smallest among the required fields of its type; null until the document was read. */
  confidence: Schema.NullOr(share),
  /** Fields from a confidence of 0.5. */
  fields,
  /** Fields below it: in the answer for one extraction alone. */
  candidates: Schema.optionalKey(fields),
  warnings: Schema.Array(
    Schema.Struct({
      code: oneOf(documentWarnings),
      field: Schema.optionalKey(Schema.String),
      values: Schema.optionalKey(Schema.Array(Schema.String))
    })
  ),
  error: Schema.NullOr(Schema.Struct({ code: oneOf(extractionFailures), message: Schema.String })),
  created_at: instant,
  completed_at: Schema.NullOr(instant)
})
export type Extraction = typeof Extraction.Type

/** Query of GET /v1/documents/extractions. */
export const ExtractionsQuery = listQuery({ status: Schema.optionalKey(oneOf(extractionStatuses)) })

/** Answer of GET /v1/documents/extractions: fields are masked, and candidates left out. */
export const ExtractionsPage = listOf(Extraction)

/** Answer of POST /v1/documents/extractions/{extraction_id}/reveal: the values as they stand in the document. */
export const RevealedExtraction = Schema.Struct({
  id: Schema.String,
  fields: Schema.Record(Schema.String, Schema.String),
  candidates: Schema.Record(Schema.String, Schema.String)
})
export type RevealedExtraction = typeof RevealedExtraction.Type
