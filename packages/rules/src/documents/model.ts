/**
 * Values that a model read. They are taken where they stand in the text and nowhere else, so that a document that gives
 * the model orders chooses at most among its own words. Spec: document 2 section 6, "extraction"; decision 0084.
 */
import { ibansIn, isIban, vatIdsIn } from "./checksums.ts"
import { fieldOf, MODEL_RULE } from "./confidence.ts"
import {
  type DocumentType,
  type DocumentWarning,
  type ExtractedField,
  fieldsOf,
  isKnownField,
  type ReadDocument
} from "./document.ts"
import { type Line, linesOf, type Segment, textOf } from "./layout.ts"
import { amountsIn, currenciesIn, datesIn, isAmerican } from "./values.ts"

/** The values that a model gave, as printed, by the name of the field. */
export type ModelSaid = { readonly [name: string]: string }

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

/** Finds where a value stands in the lines; null where it stands nowhere. */
const grounder = (lines: ReadonlyArray<Line>) => {
  const segments = lines.flat()
  const american = isAmerican(textOf(lines))
  const texts = new Map<number, string>()
  for (const { page, text } of segments) texts.set(page, `${texts.get(page) ?? ""} ${text}`)
  const pages = [...texts].map(([page, text]) => [page, wordsOf(text)] as const)
  return (name: string, said: string): ExtractedField | null => {
    const form = formOf(name, american)
    const value = form === null ? said.trim().replace(/\s+/g, " ") : form(said)[0]?.value
    if (value === undefined || said.length > MAX_SAID) return null
    const sought = wordsOf(value)
    const page = form === null && sought !== "" ? pages.find(([, text]) => text.includes(sought))?.[0] : undefined
    if (form === null && page === undefined) return null
    const within = page === undefined ? segments : segments.filter((one) => one.page === page)
    const parts = form ?? ((text: string) => (wordsOf(text).includes(sought) ? [whole(text, value)] : []))
    for (const segment of within) {
      const part = parts(segment.text).find((one) => one.value === value)
      if (part !== undefined) return modelField(name, segment, part)
    }
    if (page === undefined) return null
    // In several lines of a page: it has no box of its own.
    const field = modelField(name, within[0]!, whole("", value))
    return { ...field, evidence: { ...field.evidence, box: null } }
  }
}

const modelField = (name: string, segment: Segment, part: Part): ExtractedField =>
  fieldOf(name, {
    ...part,
    segment,
    rule: MODEL_RULE,
    label: null,
    score: 0,
    margin: 0,
    checksum: name === "iban" ? isIban(part.value) : null
  })

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
