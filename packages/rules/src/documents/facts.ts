/** The facts of a document that envelopes read and records show. Spec: document 2 section 2; decision 0084. */
import type { ExtractionCompletedBody } from "@flyball/evidence"
import { MODEL_RULE } from "./confidence.ts"
import { type DocumentWarning, type ExtractedDocument, type ExtractedField } from "./document.ts"
import { maskField } from "./mask.ts"

/** Facts of a document that evaluations use. */
export type DocumentFacts = ExtractionCompletedBody["facts"]

type Fields = { readonly [name: string]: ExtractedField }

/** Fields whose values are masked. */
export const maskFields = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, { ...field, value: maskField(name, field.value) }])
  )

/** Warnings whose values are masked. */
export const maskWarnings = (warnings: ReadonlyArray<DocumentWarning>): ReadonlyArray<DocumentWarning> =>
  warnings.map((warning) =>
    warning.values === undefined
      ? warning
      : { ...warning, values: warning.values.map((value) => maskField(warning.field ?? "", value)) }
  )

const AMOUNT = /^-?\d+(?:\.\d+)?$/

/**
 * The facts of a document: only what is a field, never a candidate, and what rules found, never what a model said,
 * which nobody can compute again.
 */
export const documentFacts = ({
  confidence,
  fields
}: Pick<ExtractedDocument, "confidence" | "fields">): DocumentFacts => {
  const ofRules = Object.entries(fields).filter(([, { evidence }]) => evidence.rule !== MODEL_RULE)
  const { currency, iban, total } = Object.fromEntries(ofRules) as Fields
  // An amount has the digits of its currency, so that it is in minor units without its point.
  const minor = total === undefined || !AMOUNT.test(total.value) ? null : Number(total.value.replace(".", ""))
  return {
    confidence,
    ...(currency === undefined || !/^[A-Z]{3}$/.test(currency.value) ? {} : { currency: currency.value }),
    iban_known: iban !== undefined && iban.evidence.checksum === true,
    ...(minor === null || !Number.isSafeInteger(minor) ? {} : { total: minor + 0 })
  }
}

/** Names of the signals that the facts of a document give. */
export const documentSignalNames = [
  "document_confidence",
  "document_currency",
  "document_iban_known",
  "document_total"
] as const

/** The facts as signals of source `server`. What a document does not say is left out. */
export const documentSignals = ({
  confidence,
  currency,
  iban_known: isKnown,
  total
}: DocumentFacts): { readonly [name: string]: string | number | boolean } => ({
  document_confidence: confidence,
  document_iban_known: isKnown,
  ...(currency === undefined ? {} : { document_currency: currency }),
  ...(total === undefined ? {} : { document_total: total })
})
