/** Rows of the catalogue: what was extracted from documents. */
import { documentTypes, extractionFailures } from "../words.ts"
import type { BodyOf } from "./body-type.ts"
import { choice, count, foreignName, hash, id, type KindRow, may, MIB, must, name, part, rules, writer } from "./row.ts"

const share = { type: "integer", min: 0, max: 1_000 } as const
const extractionId = must("extraction_id", id("ext_"))
const ofDocument = {
  agentId: may("agent_id", id("agt_")),
  bytes: must("bytes", count),
  digest: must("document_digest", hash),
  media: must("media_type", foreignName(200))
}

const facts = {
  type: "object",
  members: [
    must("confidence", share),
    may("currency", name(3)),
    must("iban_known", { type: "boolean" }),
    may("total", { type: "integer", min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
  ]
} as const

const completed = [
  ofDocument.agentId,
  ofDocument.bytes,
  must("confidence", share),
  ofDocument.digest,
  must("document_type", choice(...documentTypes)),
  extractionId,
  must("facts", facts),
  must("fields", {
    type: "list",
    of: { type: "object", members: [must("confidence", share), must("name", name(64))] },
    min: 0,
    max: 100
  }),
  ofDocument.media,
  may("model", { type: "object", members: [may("call", id("gwc_")), must("name", foreignName(200))] }),
  must("org_unit_digest", hash),
  may("requested_type", choice(...documentTypes)),
  rules,
  writer
] as const
const failed = [
  ofDocument.agentId,
  ofDocument.bytes,
  must("code", choice(...extractionFailures)),
  ofDocument.digest,
  extractionId,
  ofDocument.media,
  writer
] as const

/** The body of `extraction.completed`. */
export type ExtractionCompletedBody = BodyOf<typeof completed>
/** The body of `extraction.failed`. */
export type ExtractionFailedBody = BodyOf<typeof failed>

/** The rows, in the order of the specification's table. */
export const extractionKinds: ReadonlyArray<KindRow> = [
  {
    kind: "extraction.completed",
    about:
      "Fields were extracted from a document. `document_digest` is SHA-256 over its bytes. `fields` names those from " +
      "500 thousandths, in the order of their names. `facts` are what envelopes read: `total` in minor units of " +
      "`currency`, and whether an IBAN with right check digits stands in it; what a model said is none of them. " +
      "`model`: its name, and `client_ref` of the decision about its call, left out where it did not answer.",
    body: completed,
    parts: [
      part(
        "document",
        MIB,
        "the text of the document with its places, as its reader gave it; left out where nobody keeps it, or it is " +
          "larger than a part may be"
      ),
      part(
        "fields",
        MIB,
        "`{candidates, fields, said?, warnings}`: the values in full, with what speaks for them; `said`: those of a " +
          "model, null where it gave none"
      )
    ]
  },
  {
    kind: "extraction.failed",
    about: "A document was not read. `interrupted`: the process that read it ended.",
    body: failed,
    parts: []
  },
  {
    kind: "extraction.revealed",
    about: "Somebody read the values of an extraction in full.",
    body: [extractionId, writer],
    parts: []
  }
]
