/** Labelled invoices: the real ones of the fixtures, read in a child, and made ones of each layout. */
import { readdirSync, readFileSync } from "node:fs"
import type { ReadDocument } from "@flyball/rules"
import { Effect } from "effect"
import { DocumentReader } from "../../packages/platform/src/documents/reading/document-reader.ts"
import { binsOf } from "../../packages/rules/src/documents/confidence.ts"
import { guessesOf } from "../../packages/rules/src/documents/extract.ts"
import { linesOf } from "../../packages/rules/src/documents/layout.ts"
import { type Labelled, LAYOUTS, madeInvoice } from "./layouts.ts"

const folder = new URL("../../fixtures/invoices/", import.meta.url)
const MADE = 12

interface ByHand {
  readonly invoice_number: string
  readonly date: string
  readonly date_due?: string
  readonly amount?: number
  readonly amount_untaxed?: number
  readonly currency: string
  readonly partner_name?: string
  readonly issuer: string
  readonly vat?: string
  readonly iban?: string
}

const byHand = (name: string): { readonly [field: string]: string | null | undefined } => {
  const [one] = JSON.parse(readFileSync(new URL(name.replace(".pdf", ".json"), folder), "utf8")) as [ByHand]
  return {
    invoice_number: one.invoice_number,
    date: one.date,
    due_date: one.date_due,
    total: one.amount?.toFixed(2),
    net: one.amount_untaxed?.toFixed(2),
    currency: one.currency,
    vendor: one.partner_name ?? one.issuer,
    vat_id: one.vat?.replaceAll(" ", ""),
    iban: one.iban
  }
}

/** Reads the fixtures. Their XML is taken away: rules are to find what is printed. */
export const realInvoices = async (): Promise<ReadonlyArray<Labelled>> => {
  const ofXml = JSON.parse(readFileSync(new URL("labels-from-xml.json", folder), "utf8"))
  const names = readdirSync(folder).filter((name) => name.endsWith(".pdf"))
  const read = await Effect.runPromise(
    Effect.gen(function* () {
      const reader = yield* DocumentReader
      return yield* Effect.forEach(names, (name) =>
        reader.read({ path: new URL(name, folder).pathname }, "application/pdf")
      )
    }).pipe(Effect.provide(DocumentReader.layer()))
  )
  return names.map((name, at) => {
    const { due: _, ...labels } = ofXml[name] ?? byHand(name)
    const stated = Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === "string")
    const document = { ...read[at]!, xml: [] }
    return {
      layout: name.startsWith("Mustang") ? `Mustang ${name.includes("_499") ? 1 : 2}` : name,
      document,
      labels: Object.fromEntries(stated.filter(([field, value]) => isPrinted(document, field, value)))
    }
  })
}

/** True for a value on the page: no other can be read from it. */
const isPrinted = (document: ReadDocument, field: string, value: string): boolean => {
  if (!["invoice_number", "iban", "total", "net", "vat_id", "vendor"].includes(field)) return true
  const squeezed = (text: string): string => text.toUpperCase().replace(/[^\p{L}\d]/gu, "")
  const text = document.pages.flatMap(({ items }) => items.map((item) => item.text)).join("")
  return squeezed(text).includes(squeezed(value))
}

/** Every labelled invoice. */
export const labelledInvoices = async (): Promise<ReadonlyArray<Labelled>> => [
  ...(await realInvoices()),
  ...Array.from({ length: LAYOUTS * MADE }, (_, at) => madeInvoice(at % LAYOUTS, Math.floor(at / LAYOUTS)))
]

/** One field of one invoice as the rules read it. */
export interface Outcome {
  readonly layout: string
  readonly field: string
  /** Null where the rules state none. */
  readonly bins: ReadonlyArray<string> | null
  readonly right: boolean
}

/** Reads each invoice by the rules. */
export const outcomesOf = (invoices: ReadonlyArray<Labelled>): ReadonlyArray<Outcome> =>
  invoices.flatMap(({ document, labels, layout }) => {
    const guesses = guessesOf(linesOf(document), "invoice")
    return Object.entries(labels).map(([field, value]) => {
      const guess = guesses[field]
      return { layout, field, bins: guess === undefined ? null : binsOf(field, guess), right: guess?.value === value }
    })
  })

/** Layouts that stand behind a guess although no layout showed it: a bin that few filled stays near the coarser one. */
const PRIOR = 2
const FIRST = 0.6

/** Fits confidence: the share that was right in each bin, one vote a layout. */
export const fit = (outcomes: ReadonlyArray<Outcome>): { readonly [bin: string]: number } => {
  const votes = new Map<string, Map<string, [right: number, all: number]>>()
  for (const { bins, layout, right } of outcomes) {
    for (const bin of bins ?? []) {
      const layouts = votes.get(bin) ?? new Map()
      const [known, all] = layouts.get(layout) ?? [0, 0]
      votes.set(bin, layouts.set(layout, [known + (right ? 1 : 0), all + 1]))
    }
  }
  const rate = (bin: string, prior: number): number => {
    const shares = [...(votes.get(bin)?.values() ?? [])].map(([right, all]) => right / all)
    return (shares.reduce((sum, share) => sum + share, 0) + PRIOR * prior) / (shares.length + PRIOR)
  }
  const table: { [bin: string]: number } = {}
  for (const { bins } of outcomes) {
    if (bins === null) continue
    let prior = FIRST
    for (const bin of bins.toReversed()) {
      prior = rate(bin, prior)
      table[bin] = Math.round(prior * 1_000)
    }
  }
  return Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)))
}
