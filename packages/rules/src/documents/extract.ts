/**
 * Finds the fields of a document: candidates by their form, labels around them, arithmetic and check digits. The same
 * document always gives the same fields, so that anybody can recompute them. Spec: document 2 section 6, "extraction".
 */
import { boxOf, readPage, type Page, scoreAll, type Scored } from "./candidates.ts"
import { ibansIn, isIban, vatIdsIn } from "./checksums.ts"
import { confidenceOf } from "./confidence.ts"
import type { DocumentType, DocumentWarning, ExtractedDocument, ExtractedField, ReadDocument } from "./document.ts"
import { readInvoiceXml } from "./invoice-xml.ts"
import { type Line, linesOf, type Segment } from "./layout.ts"
import { amountsIn, currenciesIn, datesIn, hundredthsOf, isAmerican } from "./values.ts"
import { findVendor } from "./vendor.ts"

/** Fields without which a document of a type is not understood. */
export const requiredFields: { readonly [type in DocumentType]: ReadonlyArray<string> } = {
  invoice: ["invoice_number", "date", "total", "currency", "vendor"],
  credit_note: ["invoice_number", "date", "total", "currency", "vendor"],
  receipt: ["company", "date", "total"],
  bank_statement: ["iban", "opening_balance", "closing_balance"],
  identity_document: ["id_number", "surname", "date_of_birth", "expiry_date"],
  contract: [],
  unknown: []
}

/** Least confidence of a field; below it, it is a candidate. Unit: thousandths. */
export const LEAST_CONFIDENCE = 500
/** Confidence of what XML states and the print does not contradict. */
const XML_CONFIDENCE = 990
/** Confidence from which a printed value stands against the XML. */
const SURE = 800

/** A field before its confidence is known. */
export interface Guess {
  readonly value: string
  readonly segment: Segment
  readonly from: number
  readonly to: number
  readonly rule: string
  readonly label: string | null
  /** 0 to 100. */
  readonly score: number
  /** Score less the score of the next other value. */
  readonly margin: number
  readonly checksum: boolean | null
  readonly arithmetic: boolean | null
}

/** Guesses of a document by the name of their field. */
export type Guesses = { readonly [field: string]: Guess }

const creditTitle =
  /credit ?note|gutschrift(?!en\b)|rechnungskorrektur|stornorechnung|\bavoir\b|creditnota|creditfactuur/i

/** Reads the type from titles. */
const typeOf = (lines: ReadonlyArray<Line>): DocumentType => {
  const text = lines
    .slice(0, 400)
    .map((line) => line.map((segment) => segment.text).join(" "))
    .join("\n")
  const has = (pattern: RegExp): boolean => pattern.test(text)
  if (has(creditTitle)) return "credit_note"
  if (has(/invoice|rechnung|facture|factuur|fatura|\bbill\b/i)) return "invoice"
  return "unknown"
}

/** Extracts the fields of a document. `requested`: its type, where the caller knows it. */
export const extractFields = (document: ReadDocument, requested: DocumentType | null): ExtractedDocument => {
  const lines = linesOf(document)
  const xml = document.xml.map(({ text }) => readInvoiceXml(text)).find((invoice) => invoice !== null) ?? null
  const type = requested ?? xml?.type ?? typeOf(lines)
  const stated: { [name: string]: ExtractedField } = {}
  for (const [name, guess] of Object.entries(guessesOf(lines, type))) stated[name] = fieldOf(name, guess)
  const warnings: Array<DocumentWarning> = [...document.warnings]
  if (xml !== null && (type === "invoice" || type === "credit_note")) {
    for (const [name, value] of Object.entries(xml.fields)) {
      const differs = lines.length > 0 && differsFromPrint(lines, name, value, stated[name])
      const printed = stated[name]?.value
      if (differs) {
        const values = printed === undefined || printed === value ? [value] : [value, printed]
        warnings.push({ code: "xml_differs_from_print", field: name, values })
      }
      const checksum = name === "iban" ? isIban(value) : null
      const evidence = { page: null, box: null, rule: "xml", label: null, checksum, arithmetic: null }
      stated[name] = { value, confidence: differs ? LEAST_CONFIDENCE : XML_CONFIDENCE, evidence }
    }
  }
  const all = Object.entries(stated)
  const fields = Object.fromEntries(all.filter(([, { confidence }]) => confidence >= LEAST_CONFIDENCE))
  const candidates = Object.fromEntries(all.filter(([, { confidence }]) => confidence < LEAST_CONFIDENCE))
  for (const [name, { evidence }] of Object.entries(fields)) {
    if (evidence.checksum === false) warnings.push({ code: "checksum", field: name })
  }
  if (fields["total"]?.evidence.arithmetic === false) warnings.push({ code: "arithmetic", field: "total" })
  const required = requiredFields[type]
  const confidence = required.length === 0 ? 0 : Math.min(...required.map((name) => fields[name]?.confidence ?? 0))
  return { type, confidence, fields, candidates, warnings }
}

/** Fields of which the print must say what the XML says. Names are written in more than one way. */
const compared = ["invoice_number", "date", "total", "iban"]

/** True where the value of the XML is not printed, or another value is printed as that field without doubt. */
const differsFromPrint = (
  lines: ReadonlyArray<Line>,
  name: string,
  value: string,
  printed: ExtractedField | undefined
): boolean => {
  if (!compared.includes(name)) return false
  if (printed !== undefined && printed.value !== value && printed.confidence >= SURE) return true
  const american = [true, false]
  return !lines.flat().some(({ text }) => {
    if (name === "date") return american.some((first) => datesIn(text, first).some((date) => date.value === value))
    if (name === "total") {
      const cents = Math.abs(hundredthsOf(value))
      return amountsIn(text).some((one) => Math.abs(hundredthsOf(one.value)) === cents)
    }
    return squeezed(text).includes(squeezed(value))
  })
}

const squeezed = (text: string): string => text.toUpperCase().replace(/[^\p{L}\d]/gu, "")

/** The guesses for a type. */
export const guessesOf = (lines: ReadonlyArray<Line>, type: DocumentType): Guesses =>
  type === "invoice" || type === "credit_note" ? invoiceGuesses(lines, type === "credit_note") : {}

const fieldOf = (name: string, guess: Guess): ExtractedField => ({
  value: guess.value,
  confidence: confidenceOf(name, guess),
  evidence: {
    page: guess.segment.page,
    box: boxOf(guess.segment, guess.from, guess.to),
    rule: guess.rule,
    label: guess.label,
    checksum: guess.checksum,
    arithmetic: guess.arithmetic
  }
})

const invoiceGuesses = (lines: ReadonlyArray<Line>, credit: boolean): Guesses => {
  const text = lines.map((line) => line.map((segment) => segment.text).join("  ")).join("\n")
  const page = readPage(lines, isAmerican(text))
  const guesses: { [field: string]: Guess } = {}
  for (const kind of ["id", "date"] as const) {
    const scored = scoreAll(page, kind)
    for (const field of kind === "id" ? ["invoice_number"] : ["date", "due_date"]) {
      const best = bestOf(scored.filter((one) => one.field === field).map((one) => one.scored))
      if (best !== null) guesses[field] = best
    }
  }
  if (guesses["date"] === undefined) {
    const first = page.candidates.find(({ kind, segment }) => kind === "date" && segment.page === 1)
    if (first !== undefined && guesses["due_date"]?.value !== first.value) {
      guesses["date"] = guessOf({ candidate: first, score: 20, place: "none", label: null }, 0)
    }
  }
  Object.assign(guesses, amountGuesses(page, credit))
  const currency = currencyGuess(page, guesses["total"])
  if (currency !== null) guesses["currency"] = currency
  const iban = numberGuess(lines, "iban")
  if (iban !== null) guesses["iban"] = iban
  const vat = numberGuess(lines, "vat_id")
  if (vat !== null) guesses["vat_id"] = vat
  const vendor = findVendor(lines)
  if (vendor !== null) guesses["vendor"] = vendor
  return guesses
}

const guessOf = (scored: Scored, margin: number): Guess => ({
  value: scored.candidate.value,
  segment: scored.candidate.segment,
  from: scored.candidate.from,
  to: scored.candidate.to,
  rule: scored.place,
  label: scored.label,
  score: Math.round(scored.score),
  margin: Math.round(margin),
  checksum: null,
  arithmetic: null
})

/** The best value, where several places print it their best one; earlier pages and lines win. */
const bestOf = (scored: ReadonlyArray<Scored>): Guess | null => {
  const byScore = scored.toSorted((a, b) => b.score - a.score || a.candidate.segment.line - b.candidate.segment.line)
  const [best] = byScore
  if (best === undefined) return null
  const next = byScore.find(({ candidate }) => candidate.value !== best.candidate.value)
  return guessOf(best, best.score - (next?.score ?? 0))
}

/** Values of an amount field, each once with its best place. */
const shortlist = (scored: ReadonlyArray<Scored>): ReadonlyArray<Scored> => {
  const best = new Map<string, Scored>()
  for (const one of scored) {
    const known = best.get(one.candidate.value)
    if (known === undefined || one.score > known.score) best.set(one.candidate.value, one)
  }
  return [...best.values()].sort((a, b) => b.score - a.score).slice(0, 6)
}

const ARITHMETIC = 30

/** Total, net and tax that agree, or each by its label. */
const amountGuesses = (page: Page, credit: boolean): Guesses => {
  const scored = scoreAll(page, "amount")
  const of = (field: string): ReadonlyArray<Scored> =>
    shortlist(scored.filter((one) => one.field === field).map((one) => one.scored))
  const amounts = page.candidates.filter(({ kind }) => kind === "amount")
  const largest = Math.max(0, ...amounts.map(({ value }) => Math.abs(hundredthsOf(value))))
  const totals = of("total").map((one) =>
    Math.abs(hundredthsOf(one.candidate.value)) === largest ? { ...one, score: Math.min(100, one.score + 6) } : one
  )
  const [nets, taxes] = [of("net"), of("tax")]
  const none = [null]
  let best: {
    readonly rank: number
    readonly total: Scored
    readonly net: Scored | null
    readonly tax: Scored | null
    readonly agree: boolean
  } | null = null
  const ranks = new Map<string, number>()
  for (const total of totals) {
    for (const net of [...nets, ...none]) {
      for (const tax of [...taxes, ...none]) {
        const agree = net !== null && tax !== null && agrees(total, net, tax)
        const rank =
          total.score +
          (net === null ? 0 : net.score / 4) +
          (tax === null ? 0 : tax.score / 4) +
          (agree ? ARITHMETIC : net !== null && tax !== null ? -ARITHMETIC : 0)
        const { value } = total.candidate
        ranks.set(value, Math.max(rank, ranks.get(value) ?? 0))
        if (best === null || rank > best.rank) best = { rank, total, net, tax, agree }
      }
    }
  }
  if (best === null) return {}
  const { agree, net, rank, tax, total } = best
  const next = Math.max(0, ...[...ranks].filter(([value]) => value !== total.candidate.value).map(([, other]) => other))
  const arithmetic = net === null || tax === null ? null : agree
  const guess = (one: Scored, margin: number): Guess => ({
    ...guessOf(one, margin),
    value: credit ? signed(one.candidate.value) : one.candidate.value,
    arithmetic
  })
  return {
    total: guess(total, rank - next),
    ...(net === null ? {} : { net: guess(net, agree ? 50 : 0) }),
    ...(tax === null ? {} : { tax: guess(tax, agree ? 50 : 0) })
  }
}

/** A credit note states what goes back as a positive amount, as its XML does. */
const signed = (value: string): string => value.replace("-", "")

const agrees = (total: Scored, net: Scored, tax: Scored): boolean => {
  const [t, n, x] = [total, net, tax].map(({ candidate }) => Math.abs(hundredthsOf(candidate.value))) as [
    number,
    number,
    number
  ]
  return Math.abs(t - n - x) <= 1 && x <= 0.3 * n + 1
}

const currencyGuess = (page: Page, total: Guess | undefined): Guess | null => {
  const beside = page.candidates.find(
    ({ currency, from, segment }) => currency !== undefined && segment === total?.segment && from === total.from
  )
  const counts = new Map<string, { readonly count: number; readonly segment: Segment }>()
  for (const segment of page.lines.flat()) {
    for (const code of currenciesIn(segment.text)) {
      const known = counts.get(code)
      counts.set(code, { count: (known?.count ?? 0) + 1, segment: known?.segment ?? segment })
    }
  }
  const ranked = [...counts].sort((a, b) => b[1].count - a[1].count)
  const [first, second] = ranked
  if (first === undefined) return null
  const value = beside?.currency ?? first[0]
  const segment = beside?.segment ?? first[1].segment
  return {
    value,
    segment,
    from: 0,
    to: segment.text.length,
    rule: beside === undefined ? "most" : "beside_total",
    label: null,
    score: beside === undefined ? 70 : 95,
    margin: second === undefined ? 50 : 10,
    checksum: null,
    arithmetic: null
  }
}

/** The customer's numbers stand on an invoice too. */
const customers = /\b(?:your|ihre?|votre|uw|kunden?|customer|klant|client|recipient)\b/i
const numberLabels = {
  iban: /iban|konto|bank|compte|rekening/i,
  vat_id: /vat|ust|umsatzsteuer|mwst|btw|tva|tax|iva/i
}

/** A number with a form of its own: not the customer's, right check digits before wrong ones, then the first. */
const numberGuess = (lines: ReadonlyArray<Line>, field: "iban" | "vat_id"): Guess | null => {
  const own = numberLabels[field]
  const guesses = lines.flatMap((line) =>
    line.flatMap((segment, at): ReadonlyArray<Guess> =>
      (field === "iban" ? ibansIn(segment.text) : vatIdsIn(segment.text)).map(({ from, to, value }) => {
        const before = segment.text.slice(0, from)
        const left = before.trim() === "" ? (line[at - 1]?.text ?? "") : before
        const checksum = field === "iban" ? isIban(value) : null
        const labelled = own.test(left)
        const score = (customers.test(left) ? 20 : labelled ? 95 : 75) - (checksum === false ? 15 : 0)
        const label = labelled ? (own.exec(left)?.[0] ?? null) : null
        return { value, segment, from, to, rule: field, label, score, margin: 0, checksum, arithmetic: null }
      })
    )
  )
  const [best, ...rest] = guesses.sort((a, b) => b.score - a.score || a.segment.line - b.segment.line)
  if (best === undefined || best.score < 30) return null
  const next = rest.find(({ value }) => value !== best.value)
  return { ...best, margin: best.score - (next?.score ?? 0) }
}
