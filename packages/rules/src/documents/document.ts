/**
 * A document as its reader gives it, and what rules find in it: both are recomputed by the verifier. Spec: document 2
 * sections 2 and 6, "extraction".
 */
import { documentTypes, documentWarnings, extractionFailures } from "@flyball/evidence"

export { documentTypes, documentWarnings, extractionFailures }
/** One of {@link documentTypes}. */
export type DocumentType = (typeof documentTypes)[number]

/** A piece of text. Lengths in hundredths of a point, from the upper left corner of the page. */
export interface TextItem {
  readonly text: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** Why nobody who reads the page sees it; null: it can be seen. Hidden text never becomes a field. */
  readonly hidden: "render_mode" | "white" | "small" | "outside" | null
}

/** A page. HTML, mail, DOCX and text are laid out in lines of one width, so that rules have one form to read. */
export interface DocumentPage {
  readonly width: number
  readonly height: number
  readonly items: ReadonlyArray<TextItem>
}

/** A warning of a document. */
export type DocumentWarning = {
  readonly code: (typeof documentWarnings)[number]
  readonly field?: string
  /** Both values where two readers differ. */
  readonly values?: ReadonlyArray<string>
}

/** The answer of the reader's process. */
export interface ReadDocument {
  readonly pages: ReadonlyArray<DocumentPage>
  /** XML inside the file, or the file itself: Factur-X, ZUGFeRD, UBL, CII. As text. */
  readonly xml: ReadonlyArray<{ readonly name: string; readonly text: string }>
  readonly warnings: ReadonlyArray<DocumentWarning>
}

/** Why a document was not read. */
export type ExtractionFailure = (typeof extractionFailures)[number]

/** Where a value stands, and what speaks for it. */
export interface FieldEvidence {
  /** From 1; null where the value is of XML. */
  readonly page: number | null
  /** x, y, width, height in hundredths of a point; null where the value is of XML. */
  readonly box: readonly [number, number, number, number] | null
  /** The name of the rule. */
  readonly rule: string
  /** The label that was read beside it. */
  readonly label: string | null
  readonly checksum: boolean | null
  readonly arithmetic: boolean | null
}

/** A field: dates `YYYY-MM-DD`, amounts `1234.50` with the digits of their currency, all else as it is written. */
export interface ExtractedField {
  readonly value: string
  /** Thousandths. */
  readonly confidence: number
  readonly evidence: FieldEvidence
}

/** The fields that rules found. Fields below 500 thousandths are candidates. */
export interface ExtractedDocument {
  readonly type: DocumentType
  /** The smallest among the required fields of the type, in thousandths; 0 where one is missing. */
  readonly confidence: number
  readonly fields: { readonly [name: string]: ExtractedField }
  readonly candidates: { readonly [name: string]: ExtractedField }
  readonly warnings: ReadonlyArray<DocumentWarning>
}

const invoice = ["invoice_number", "date", "total", "currency", "vendor", "due_date", "net", "tax", "vat_id", "iban"]
/** Fields of each type. Those of a contract only a model finds. */
export const fieldsOf: { readonly [type in DocumentType]: ReadonlyArray<string> } = {
  invoice,
  credit_note: invoice,
  receipt: ["company", "date", "total", "currency"],
  bank_statement: ["iban", "opening_balance", "closing_balance", "period_from", "period_to"],
  identity_document: ["id_number", "surname", "date_of_birth", "expiry_date", "given_names", "nationality"],
  contract: ["first_party", "second_party", "effective_date", "end_date", "governing_law", "notice_period"],
  unknown: []
}

const known: ReadonlySet<string> = new Set(Object.values(fieldsOf).flat())
/** True for a field of a type; false for one that a caller named. */
export const isKnownField = (name: string): boolean => known.has(name)

/**
 * Fields of which records, events and lists show the last four characters alone, as they do of fields that a caller
 * named: nobody knows what those are.
 */
export const maskedFields = ["iban", "card_number", "vat_id", "tax_id", "id_number", "account_number", "mrz"] as const
