/**
 * Values that a model read. They are taken where they stand in the text and nowhere else, so that a document that gives
 * the model orders chooses at most among its own words. Spec: document 2 section 6, "extraction"; decision 0084.
 */
import { boxOf } from "./candidates.ts"
import { ibansIn, isIban, vatIdsIn } from "./checksums.ts"
import { confidenceTable } from "./confidence-table.ts"
import {
  type DocumentType,
  type DocumentWarning,
  type ExtractedField,
  fieldsOf,
  isKnownField,
  type ReadDocument
} from "./document.ts"
import { type Line, linesOf, textOf } from "./layout.ts"
import { amountsIn, currenciesIn, datesIn, isAmerican } from "./values.ts"

/** What a model said, as it is printed, by the name of the field. */
export type ModelSaid = { readonly [name: string]: string }

/** The rule that a model's value names. Such a value is no fact that envelopes read. */
export const MODEL_RULE = "model"
/** The longest value of a model. Unit: characters. */
export const MAX_SAID = 500

/** The question to a model: names of fields, and the text that a reader of the page sees. */
export interface ModelQuestion {
  readonly names: ReadonlyArray<string>
  readonly text: string
}

/** The question about a document; null where there are no fields. */
export const modelQuestion = (
  document: ReadDocument,
  type: DocumentType,
  own: ReadonlyArray<string>
): ModelQuestion | null => {
  const names = [...fieldsOf[type], ...own]
  return names.length === 0 ? null : { names, text: textOf(linesOf(document)) }
}

interface Part {
  readonly value: string
  readonly from: number
  readonly to: number
}
const whole = (text: string, value: string): Part => ({ value, from: 0, to: text.length })

/** Reads values of a field that has a form; null where it is words. */
const formOf = (name: string, american: boolean): ((text: string) => ReadonlyArray<Part>) | null => {
  if (!isKnownField(name)) return null
  if (/date|^period_/.test(name)) return (text) => datesIn(text, american)
  if (/^(?:total|net|tax)$|_balance$/.test(name)) return amountsIn
  if (name === "iban") return ibansIn
  if (name === "vat_id") return vatIdsIn
  return name === "currency" ? (text) => currenciesIn(text).map((value) => whole(text, value)) : null
}

/** Words between blanks: the end of one number and the begin of the next are no value. */
const wordsOf = (text: string): string => {
  const words = text
    .normalize("NFKC")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
  return words === null ? "" : ` ${words.join(" ")} `
}

/** Makes a field of a value that stands in the lines; null where it stands nowhere. */
const grounder = (lines: ReadonlyArray<Line>) => {
  const segments = lines.flat()
  const american = isAmerican(textOf(lines))
  const pages = new Map<number, string>()
  for (const { page, text } of segments) pages.set(page, `${pages.get(page) ?? ""} ${text}`)
  const words = [...pages].map(([page, text]) => [page, wordsOf(text)] as const)
  return (name: string, said: string): ExtractedField | null => {
    const form = formOf(name, american)
    const value = form === null ? said.trim().replace(/\s+/g, " ") : form(said)[0]?.value
    if (value === undefined || said.length > MAX_SAID) return null
    const field = (page: number, box: ExtractedField["evidence"]["box"]): ExtractedField => ({
      value,
      confidence: confidenceTable[MODEL_RULE]!,
      evidence: {
        page,
        box,
        rule: MODEL_RULE,
        label: null,
        checksum: name === "iban" ? isIban(value) : null,
        arithmetic: null
      }
    })
    const sought = wordsOf(value)
    const page = form === null && sought !== "" ? words.find(([, text]) => text.includes(sought))?.[0] : undefined
    if (form === null && page === undefined) return null
    const places = form ?? ((text: string) => (wordsOf(text).includes(sought) ? [whole(text, value)] : []))
    for (const segment of page === undefined ? segments : segments.filter((one) => one.page === page)) {
      const found = places(segment.text).find((part) => part.value === value)
      if (found !== undefined) return field(segment.page, boxOf(segment, found.from, found.to))
    }
    return page === undefined ? null : field(page, null)
  }
}

/**
 * Adds a model's values to those that rules found; answers what somebody should know. A rule's value stays where it is
 * at least as sure.
 */
export const addModel = (
  lines: ReadonlyArray<Line>,
  type: DocumentType,
  stated: { [name: string]: ExtractedField },
  said: ModelSaid
): ReadonlyArray<DocumentWarning> => {
  const ground = grounder(lines)
  return Object.keys(said)
    .toSorted()
    .flatMap((name): ReadonlyArray<DocumentWarning> => {
      const found = ground(name, said[name]!)
      if (found === null) return [{ code: "ungrounded", field: name }]
      const rule = Object.hasOwn(stated, name) ? stated[name] : undefined
      const value =
        type === "credit_note" && /^(?:total|net|tax)$/.test(name) ? found.value.replace("-", "") : found.value
      if (rule === undefined || rule.confidence < found.confidence) stated[name] = { ...found, value }
      if (rule === undefined || rule.value === value) return []
      return formOf(name, false) === null && wordsOf(rule.value) === wordsOf(value)
        ? []
        : [{ code: "readers_differ", field: name, values: [rule.value, value] }]
    })
}
