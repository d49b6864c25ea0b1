/**
 * Finds the fields of a document: candidates by their form, labels around them, arithmetic and check digits. The same
 * document always gives the same fields, so that anybody can recompute them. Spec: document 2 section 6, "extraction".
 */
import { type Candidate, readPage, type Page, scoreAll, type Scored } from "./candidates.ts"
import { ibansIn, isIban, vatIdsIn } from "./checksums.ts"
import { fieldOf } from "./confidence.ts"
import { mostOnReceipt, receiptTotal } from "./receipt.ts"
import { type Guess, guessOf, type Guesses } from "./guess.ts"
import type { DocumentType, DocumentWarning, ExtractedDocument, ExtractedField, ReadDocument } from "./document.ts"
import { readInvoiceXml } from "./invoice-xml.ts"
import { isCut, type Line, linesOf, type Segment, textOf } from "./layout.ts"
import { addModel, type ModelSaid } from "./model.ts"
import { amountsIn, currenciesIn, datesIn, hundredthsOf, isAmerican } from "./values.ts"
import { mrzGuesses } from "./mrz.ts"
import { statementGuesses } from "./statement.ts"
import { findVendor } from "./vendor.ts"

/** Fields without which a document of a type is not understood. */
export const requiredFields: { readonly [type in DocumentType]: ReadonlyArray<string> } = {
  invoice: ["invoice_number", "date", "total", "currency", "vendor"],
  credit_note: ["invoice_number", "date", "total", "currency", "vendor"],
  receipt: ["company", "date", "total"],
  bank_statement: ["iban", "opening_balance", "closing_balance"],
  identity_document: ["id_number", "surname", "date_of_birth", "expiry_date"],
  contract: ["first_party", "second_party", "effective_date"],
  unknown: []
}

/** Least confidence of a field; below it, it is a candidate. Unit: thousandths. */
export const LEAST_CONFIDENCE = 500
/** Confidence of what XML states and the print does not contradict. */
const XML_CONFIDENCE = 990
/** The most for what was recognised in an image: the table was fitted on text. */
const MOST_RECOGNISED = 800
/** Confidence from which a printed value stands against the XML. */
const SURE = 800

const creditTitle =
  /credit ?note|gutschrift(?!en\b)|rechnungskorrektur|stornorechnung|\bavoir\b|creditnota|creditfactuur/i

const receiptTitle = /\breceipt\b|kassenbon|kassenbeleg|quittung|ticket de caisse|kassabon|\bcash\b[^]*\bchange\b/i
/** Lines of a till: the cash that was handed over, and the change. */
const till = [/\bcash\b[^\n]*\d[.,]\d\d\b/i, /\bchange\b[^\n]*\d[.,]\d\d\b/i]
const statementTitle =
  /kontoauszug|account statement|statement of account|bank statement|relevé de compte|rekeningafschrift/i

/** Reads the type from titles, the rarer ones first. */
const typeOf = (lines: ReadonlyArray<Line>): DocumentType => {
  const text = textOf(lines.slice(0, 400))
  if (Object.keys(mrzGuesses(lines)).length > 0) return "identity_document"
  if (statementTitle.test(text)) return "bank_statement"
  if (creditTitle.test(text)) return "credit_note"
  if (till.every((line) => line.test(text))) return "receipt"
  if (receiptTitle.test(text) && !/invoice (?:no|number|date)/i.test(text)) return "receipt"
  return /invoice|rechnung|facture|factuur|fatura|\bbill\b/i.test(text) ? "invoice" : "unknown"
}

/**
 * Extracts the fields of a document. `requested`: its type, where the caller knows it. `said`: what a model said of it;
 * null where it said nothing of use; left out where none read it.
 */
export const extractFields = (
  document: ReadDocument,
  requested: DocumentType | null,
  said?: ModelSaid | null
): ExtractedDocument => {
  const lines = linesOf(document)
  const xml = document.xml.map(({ text }) => readInvoiceXml(text)).find((invoice) => invoice !== null) ?? null
  const type = requested ?? xml?.type ?? typeOf(lines)
  const stated: { [name: string]: ExtractedField } = {}
  const isRecognised = document.warnings.some(({ code }) => code === "recognised_text")
  for (const [name, guess] of Object.entries(guessesOf(lines, type)))
    stated[name] = fieldOf(
      name,
      guess,
      Math.min(isRecognised ? MOST_RECOGNISED : 1_000, type === "receipt" ? mostOnReceipt(name, guess) : 1_000)
    )
  const warnings: Array<DocumentWarning> = [...document.warnings]
  if (isCut(document) && warnings.every(({ code }) => code !== "partly_read")) warnings.push({ code: "partly_read" })
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
  if (said === null) warnings.push({ code: "model_failed" })
  else if (said !== undefined) warnings.push(...addModel(lines, type, stated, said))
  const all = Object.entries(stated)
  const fields = Object.fromEntries(all.filter(([, { confidence }]) => confidence >= LEAST_CONFIDENCE))
  const candidates = Object.fromEntries(all.filter(([, { confidence }]) => confidence < LEAST_CONFIDENCE))
  for (const [name, { evidence }] of Object.entries(fields)) {
    if (evidence.checksum === false) warnings.push({ code: "checksum", field: name })
  }
  for (const field of ["total", "closing_balance"]) {
    if (fields[field]?.evidence.arithmetic === false) warnings.push({ code: "arithmetic", field })
  }
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
export const guessesOf = (lines: ReadonlyArray<Line>, type: DocumentType): Guesses => {
  if (type === "identity_document") return mrzGuesses(lines)
  if (type === "contract" || type === "unknown") return {}
  const page = readPage(lines, isAmerican(textOf(lines)))
  if (type === "receipt") return receiptGuesses(page)
  if (type === "bank_statement") return { ...statementGuesses(page), ...present({ iban: numberGuess(lines, "iban") }) }
  return invoiceGuesses(page, type === "credit_note")
}

const present = (guesses: { readonly [field: string]: Guess | null }): Guesses =>
  Object.fromEntries(Object.entries(guesses).flatMap(([name, guess]) => (guess === null ? [] : [[name, guess]])))

const dateGuesses = (page: Page): Guesses => {
  const scored = scoreAll(page, "date")
  const of = (field: string): Guess | null =>
    bestOf(scored.filter((one) => one.field === field).map((one) => one.scored))
  const [date, due] = [of("date"), of("due_date")]
  // A date without a label is the document's where it is the first of the first page.
  const first = page.candidates.find(({ kind, segment }) => kind === "date" && segment.page === 1)
  const plain =
    date === null && first !== undefined && first.value !== due?.value
      ? guessOf({ candidate: first, score: 20, place: "none", label: null }, 0)
      : date
  return present({ date: plain, due_date: due })
}

/** A receipt is an invoice without number, from the name at its top, that says what was handed over. */
const receiptGuesses = (page: Page): Guesses => {
  const { date, ...others } = dateGuesses(page)
  const total = receiptTotal(page) ?? amountGuesses(page, false).total
  return present({
    company: findVendor(page.lines, true),
    date: date ?? Object.values(others)[0] ?? null,
    total: total ?? null,
    currency: currencyGuess(page, total)
  })
}

const invoiceGuesses = (page: Page, credit: boolean): Guesses => {
  const numbers = scoreAll(page, "id").filter(({ field }) => field === "invoice_number")
  const amounts = amountGuesses(page, credit)
  return {
    ...dateGuesses(page),
    ...amounts,
    ...present({
      invoice_number: bestOf(numbers.map(({ scored }) => scored)),
      currency: currencyGuess(page, amounts["total"]),
      iban: numberGuess(page.lines, "iban"),
      vat_id: numberGuess(page.lines, "vat_id"),
      vendor: findVendor(page.lines, false)
    })
  }
}

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

/** The score that total, net and tax gain by their agreement. */
const ARITHMETIC = 30
/** A label that needs no sum. */
const SURE_LABEL = 70
/** Amounts from the end of a document among which sums are searched. */
const MAX_SUMMED = 200

interface Sum {
  readonly rank: number
  readonly total: Scored
  readonly net: Scored | null
  readonly tax: Scored | null
  readonly agree: boolean
}

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
  const sums = totals.flatMap((total) =>
    [...of("net"), null].flatMap((net) =>
      [...of("tax"), null].map((tax): Sum => {
        const agree = net !== null && tax !== null && agrees(total, net, tax)
        const bonus = net === null || tax === null ? 0 : agree ? ARITHMETIC : -ARITHMETIC
        return { rank: total.score + (net?.score ?? 0) / 4 + (tax?.score ?? 0) / 4 + bonus, total, net, tax, agree }
      })
    )
  )
  let best = sums.toSorted((a, b) => b.rank - a.rank)[0] ?? null
  if (best === null || (!best.agree && best.total.score < SURE_LABEL)) {
    const sum = sumWithoutLabels(amounts)
    if (sum !== null) best = { rank: sum.total.score, ...sum, agree: true }
  }
  if (best === null) return {}
  const { agree, net, rank, tax, total } = best
  const others = sums.filter((one) => one.total.candidate.value !== total.candidate.value)
  const next = Math.max(0, ...others.map((one) => one.rank))
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

/** The largest amount that is the sum of two others near it, of which one can be the tax of the other. */
const sumWithoutLabels = (
  amounts: ReadonlyArray<Candidate>
): { readonly total: Scored; readonly net: Scored; readonly tax: Scored } | null => {
  const scored = (candidate: Candidate): Scored => ({ candidate, score: 58, place: "none", label: null })
  const cents = amounts.slice(-MAX_SUMMED).map((candidate) => [candidate, hundredthsOf(candidate.value)] as const)
  for (const [total, t] of cents.toSorted((a, b) => b[1] - a[1])) {
    const near = cents.filter(([{ segment }]) => Math.abs(segment.line - total.segment.line) <= 6)
    for (const [tax, x] of near) {
      if (x <= 0.02 * t || x > 0.22 * t) continue
      const net = near.find(([candidate, n]) => n === t - x && candidate !== tax)
      if (net !== undefined) return { total: scored(total), net: scored(net[0]), tax: scored(tax) }
    }
  }
  return null
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
  const guess = {
    value,
    segment,
    from: 0,
    to: segment.text.length,
    label: null,
    margin: second === undefined ? 50 : 10
  }
  return beside === undefined ? { ...guess, rule: "most", score: 70 } : { ...guess, rule: "beside_total", score: 95 }
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
        return { value, segment, from, to, rule: field, label, score, margin: 0, checksum }
      })
    )
  )
  const [best, ...rest] = guesses.sort((a, b) => b.score - a.score || a.segment.line - b.segment.line)
  if (best === undefined || best.score < 30) return null
  const next = rest.find(({ value }) => value !== best.value)
  return { ...best, margin: best.score - (next?.score ?? 0) }
}
