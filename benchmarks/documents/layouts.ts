/**
 * Invoices of twenty-five layouts, made by a generator: rules are held against layouts and not against files, because
 * files of one layout are right or wrong together.
 */
import type { ReadDocument, TextItem } from "@flyball/rules"

/** A made invoice with its true fields. */
export interface Labelled {
  readonly layout: string
  readonly document: ReadDocument
  readonly labels: { readonly [field: string]: string }
}

type Language = "de" | "en" | "fr" | "nl"
type Random = (end: number) => number

/** How a layout prints its parts. */
interface Layout {
  readonly language: Language
  readonly meta: "above" | "left" | "same" | "title"
  readonly totals: "column" | "row" | "same" | "table"
  readonly sender: "block" | "domain" | "footer" | "plain" | "return" | "right" | "labelled"
  readonly dates: "dots" | "iso" | "long" | "slashes"
  readonly symbol: "after" | "before" | "code" | "header"
  /** Which of the synonyms of each label. */
  readonly words: number
  readonly paidBefore?: boolean
  readonly bank?: boolean
  /** An older debt stands below the total. */
  readonly balance?: boolean
}

const texts = {
  en: {
    invoice: ["Invoice", "Tax Invoice", "INVOICE"],
    number: ["Invoice No.", "Invoice number", "Invoice #", "Document no.", "Your ref", "Doc. ID"],
    date: ["Invoice date", "Date", "Date of issue", "Issued on", "Created", "As of"],
    due: ["Due date", "Payment due", "Pay by"],
    net: ["Subtotal", "Net amount", "Total excl. VAT"],
    tax: ["VAT 20%", "Tax", "VAT amount"],
    total: ["Total", "Grand total", "Amount due", "Total incl. VAT", "Sum", "To transfer"],
    vat: ["VAT No.", "VAT ID"],
    order: "Order no.",
    customer: "Customer no.",
    to: "Bill to",
    delivery: "Delivery date",
    from: "Seller",
    items: ["Description", "Qty", "Price", "Amount"]
  },
  de: {
    invoice: ["Rechnung", "RECHNUNG", "Rechnung / Invoice"],
    number: ["Rechnungsnummer", "Rechnungs-Nr.", "Rechnung Nr.", "Beleg-Nr.", "Vorgang", "Zeichen"],
    date: ["Rechnungsdatum", "Datum", "Belegdatum", "vom", "Erstellt", "Ort, Tag"],
    due: ["Fällig am", "Zahlbar bis", "Fälligkeitsdatum"],
    net: ["Zwischensumme", "Nettobetrag", "Summe netto"],
    tax: ["zzgl. 19% MwSt.", "Umsatzsteuer 19%", "USt."],
    total: ["Gesamtbetrag", "Rechnungsbetrag", "Endbetrag", "Gesamt", "Wir erhalten", "Zu überweisen"],
    vat: ["USt-IdNr.", "USt-ID"],
    order: "Bestellnummer",
    customer: "Kundennummer",
    to: "Rechnungsempfänger",
    delivery: "Lieferdatum",
    from: "Verkäufer",
    items: ["Bezeichnung", "Menge", "Einzelpreis", "Betrag"]
  },
  fr: {
    invoice: ["Facture", "FACTURE", "Facture"],
    number: ["Facture n°", "Numéro de facture", "N° facture", "Facture numéro", "Pièce", "Réf."],
    date: ["Date de facture", "Date", "Date d'émission", "Date facture", "Établie", "Fait à Lyon"],
    due: ["Date d'échéance", "Échéance", "Date limite de paiement"],
    net: ["Total HT", "Montant HT", "Sous-total"],
    tax: ["TVA 20%", "Montant TVA", "Total TVA"],
    total: ["Total TTC", "Net à payer", "Montant TTC", "Total", "À régler", "Solde"],
    vat: ["N° TVA", "TVA intracommunautaire"],
    order: "Commande n°",
    customer: "N° client",
    to: "Facturé à",
    delivery: "Date de livraison",
    from: "Vendeur",
    items: ["Désignation", "Quantité", "Prix unitaire", "Montant"]
  },
  nl: {
    invoice: ["Factuur", "FACTUUR", "Factuur"],
    number: ["Factuurnummer", "Factuurnr.", "Factuur nr.", "Factuurnummer", "Kenmerk", "Stuk"],
    date: ["Factuurdatum", "Datum", "Datum factuur", "Factuurdatum", "Opgemaakt", "Dag"],
    due: ["Vervaldatum", "Te betalen voor", "Uiterste betaaldatum"],
    net: ["Subtotaal", "Totaal excl. BTW", "Netto"],
    tax: ["BTW 21%", "BTW bedrag", "BTW"],
    total: ["Totaal", "Te betalen", "Totaal incl. BTW", "Totaalbedrag", "Over te maken", "Som"],
    vat: ["BTW-nummer", "BTW nr."],
    order: "Ordernummer",
    customer: "Klantnummer",
    to: "Factuuradres",
    delivery: "Leverdatum",
    from: "Leverancier",
    items: ["Omschrijving", "Aantal", "Prijs", "Bedrag"]
  }
}
const months = {
  en: "January February March April May June July August September October November December",
  de: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
  fr: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
  nl: "januari februari maart april mei juni juli augustus september oktober november december"
}
const forms = { en: ["Ltd", "Inc.", "LLC"], de: ["GmbH", "AG", "GmbH & Co. KG"], fr: ["SARL", "SAS"], nl: ["B.V."] }
const rates = { en: 20, de: 19, fr: 20, nl: 21 }
const stems =
  "Nordwind Alpha Kestrel Blauberg Fontaine Veldhoek Marlow Sonnen Lumen Harbor Castel Dijkstra Petrel".split(" ")
const trades = "Media Systems Logistik Office Design Energie Foods Print Tools Travel".split(" ")
const towns = { en: "London", de: "Hamburg", fr: "Lyon", nl: "Utrecht" }
const people = ["Anna Keller", "Tom Baker", "Luc Moreau", "Eva Jansen"]

const l = (
  language: Language,
  meta: Layout["meta"],
  totals: Layout["totals"],
  sender: Layout["sender"],
  dates: Layout["dates"],
  symbol: Layout["symbol"],
  words: number,
  more: Partial<Layout> = {}
): Layout => ({ language, meta, totals, sender, dates, symbol, words, ...more })

const layouts: ReadonlyArray<Layout> = [
  l("en", "left", "row", "block", "long", "before", 0),
  l("en", "same", "same", "right", "slashes", "code", 1, { bank: true }),
  l("en", "above", "table", "footer", "iso", "header", 2),
  l("en", "title", "column", "labelled", "long", "before", 3, { paidBefore: true }),
  l("en", "left", "table", "domain", "slashes", "after", 2, { bank: true }),
  l("de", "left", "row", "return", "dots", "after", 0, { bank: true }),
  l("de", "same", "same", "block", "dots", "code", 1),
  l("de", "above", "table", "footer", "iso", "after", 2, { bank: true }),
  l("de", "title", "column", "return", "dots", "header", 3),
  l("de", "left", "same", "right", "long", "after", 1, { paidBefore: true, bank: true }),
  l("de", "above", "row", "domain", "dots", "code", 0),
  l("fr", "left", "row", "block", "slashes", "after", 0, { bank: true }),
  l("fr", "same", "table", "footer", "long", "after", 1),
  l("fr", "above", "column", "right", "slashes", "header", 2, { bank: true }),
  l("fr", "title", "same", "labelled", "dots", "code", 3),
  l("fr", "left", "column", "domain", "iso", "after", 2),
  l("nl", "left", "row", "right", "long", "before", 0, { bank: true }),
  l("nl", "same", "table", "block", "slashes", "before", 1),
  l("nl", "above", "same", "footer", "iso", "header", 2, { bank: true }),
  l("nl", "title", "row", "labelled", "dots", "code", 3),
  // Words that the rules do not know: what they do not find they must not be sure of.
  l("en", "left", "row", "plain", "slashes", "before", 4, { balance: true }),
  l("de", "same", "same", "plain", "dots", "after", 5, { balance: true }),
  l("de", "above", "table", "footer", "long", "header", 4, { bank: true }),
  l("fr", "left", "row", "plain", "dots", "after", 5, { balance: true }),
  l("nl", "same", "table", "right", "iso", "code", 4)
]

const randomOf = (seed: number): Random => {
  let state = seed
  return (end) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 12)) >>> 0) % end
  }
}

/** Puts text on a page; widths as of Helvetica, about half its height a letter. */
class Sheet {
  readonly items: Array<TextItem> = []
  y = 40
  put(x: number, text: string, y = this.y, right = false): this {
    const width = text.length * 4.8
    const left = right ? x - width : x
    this.items.push({
      text,
      x: Math.round(left * 100),
      y: Math.round(y * 100),
      width: Math.round(width * 100),
      height: 1_000,
      hidden: null
    })
    return this
  }
  down(points = 14): this {
    this.y += points
    return this
  }
}

const grouped = (cents: number, { language, symbol }: Layout): string => {
  const whole = String(Math.floor(cents / 100))
  const [group, point] = { en: [",", "."], de: [".", ","], fr: [" ", ","], nl: [".", ","] }[language] as [
    string,
    string
  ]
  const digits = `${whole.replace(/(?=(\d{3})+$)(?!^)/g, group)}${point}${String(cents % 100).padStart(2, "0")}`
  const sign = language === "en" ? "£" : "€"
  const code = language === "en" ? "GBP" : "EUR"
  return symbol === "after"
    ? `${digits} ${sign}`
    : symbol === "before"
      ? `${sign}${digits}`
      : symbol === "code"
        ? `${code} ${digits}`
        : digits
}

const dateText = (date: string, { dates, language }: Layout): string => {
  const [year, month, day] = date.split("-") as [string, string, string]
  if (dates === "iso") return date
  if (dates === "dots") return `${day}.${month}.${year}`
  if (dates === "slashes") return `${day}/${month}/${year}`
  return `${Number(day)} ${months[language].split(" ")[Number(month) - 1]} ${year}`
}

const ibanOf = (language: Language, random: Random): string => {
  const [country, length] = { en: ["GB", 18], de: ["DE", 18], fr: ["FR", 23], nl: ["NL", 14] }[language] as [
    string,
    number
  ]
  const letters = language === "en" || language === "nl" ? "BANK" : ""
  const account = letters + Array.from({ length: length - letters.length }, () => random(10)).join("")
  const digits = [...`${account}${country}00`].map((one) => Number.parseInt(one, 36)).join("")
  const check = 98n - (BigInt(digits) % 97n)
  return `${country}${String(check).padStart(2, "0")}${account}`
}

/** One invoice of a layout. The same seed makes the same. */
export const madeInvoice = (index: number, seed: number): Labelled => {
  const layout = layouts[index]!
  const random = randomOf(index * 7_919 + seed * 104_729 + 1)
  const { language, meta, sender, totals, words } = layout
  const t = texts[language]
  const pick = (list: ReadonlyArray<string>): string => list[words % list.length]!
  const any = (list: ReadonlyArray<string>): string => list[random(list.length)]!
  const form = sender === "plain" ? any(["& Sons", "Inh. K. Meyer", "Studio"]) : any(forms[language])
  const vendor = `${any(stems)} ${any(trades)} ${form}`
  const iso = (day: number): string => new Date(Date.UTC(2019, 0, 1 + day)).toISOString().slice(0, 10)
  const day = random(2_000)
  const [date, due, delivery] = [iso(day), iso(day + 14 + random(20)), iso(day - 1 - random(9))]
  const number = any([
    `${1_000 + random(90_000)}`,
    `R-${2019 + random(6)}-${100 + random(900)}`,
    `INV${10_000 + random(9_000)}/${random(90)}`
  ])
  const prices = Array.from({ length: 2 + random(4) }, () => 500 + random(90_000))
  const net = prices.reduce((sum, price) => sum + price, 0)
  const tax = Math.round((net * rates[language]) / 100)
  const vat =
    { en: "GB", de: "DE", fr: "FR", nl: "NL" }[language] +
    String(100_000_000 + random(800_000_000)) +
    (language === "nl" ? "B01" : "")
  const vatId = language === "fr" ? vat.replace("FR", `FR${10 + random(80)}`) : vat
  const iban = ibanOf(language, random)
  const site = `${vendor.split(" ").slice(0, 2).join("").toLowerCase()}.example`
  const money = (cents: number): string => grouped(cents, layout)
  const sheet = new Sheet()
  const street = `${any(stems)}weg ${1 + random(90)}`
  const town = `${10_000 + random(80_000)} ${towns[language]}`

  if (sender === "block" || sender === "plain")
    for (const text of [vendor, street, town, `Tel. +49 40 ${random(900_000)}`]) sheet.put(50, text).down()
  if (sender === "right") for (const text of [vendor, street, town, `www.${site}`]) sheet.put(400, text).down()
  if (sender === "domain") sheet.put(50, vendor.split(" ").slice(0, 2).join(" ")).put(400, `info@${site}`).down(30)
  if (sender === "return") sheet.down(60).put(50, `${vendor} - ${street} - ${town}`).down(20)
  if (sender === "labelled") sheet.put(50, `${t.from}: ${vendor}`).down().put(50, street).down(30)
  sheet.down(20)
  if (random(2) === 0) sheet.put(50, t.to).down()
  for (const text of [any(people), `${any(stems)} ${any(trades)}`, `${any(stems)}str. ${random(99)}`, town])
    sheet.put(50, text).down()
  sheet.down(20)

  const rows: ReadonlyArray<readonly [string, string]> = [
    [t.customer, String(10_000 + random(9_999))],
    [pick(t.number), number],
    [pick(t.date), dateText(date, layout)],
    [t.order, `B${100 + random(900)}`],
    [t.delivery, dateText(delivery, layout)],
    [pick(t.due), dateText(due, layout)]
  ]
  if (meta === "title") {
    const join = { en: "dated", de: "vom", fr: "du", nl: "van" }[language]
    sheet.put(50, `${pick(t.invoice)} ${number} ${join} ${dateText(date, layout)}`)
    sheet.down(20)
    for (const [label, value] of [rows[0]!, rows[3]!, rows[5]!]) sheet.put(50, `${label}: ${value}`).down()
  } else {
    sheet.put(50, pick(t.invoice))
    sheet.down(24)
    if (meta === "above") {
      for (const part of [rows.slice(0, 3), rows.slice(3)]) {
        part.forEach(([label], at) => sheet.put(50 + at * 170, label))
        sheet.down()
        part.forEach(([, value], at) => sheet.put(50 + at * 170, value))
        sheet.down(20)
      }
    } else {
      for (const [label, value] of rows) {
        sheet.put(50, meta === "same" ? `${label}: ${value}` : label)
        if (meta === "left") sheet.put(220, value)
        sheet.down()
      }
    }
  }
  sheet.down(20)
  t.items.forEach((label, at) => sheet.put([50, 300, 420, 545][at]!, label, sheet.y, at > 0))
  sheet.down()
  for (const price of prices) {
    sheet.put(50, `${any(trades)} ${any(stems).toLowerCase()}`)
    sheet.put(300, "1", sheet.y, true)
    sheet.put(420, money(price), sheet.y, true)
    sheet.put(545, money(price), sheet.y, true)
    sheet.down()
  }
  sheet.down(16)
  const code = layout.symbol === "header" ? (language === "en" ? " GBP" : " EUR") : ""
  const sums: ReadonlyArray<readonly [string, number]> = [
    [pick(t.net), net],
    [pick(t.tax), tax],
    [pick(t.total) + code, net + tax]
  ]
  if (totals === "table" || totals === "column") {
    const at = (place: number): number => 300 + place * 120
    sums.forEach(([label], place) => sheet.put(at(place), label, sheet.y, true))
    sheet.down(totals === "column" ? 26 : 14)
    sums.forEach(([, value], place) => sheet.put(at(place), money(value), sheet.y, true))
    sheet.down()
  } else {
    for (const [label, value] of sums) {
      if (totals === "same") sheet.put(320, `${label}: ${money(value)}`)
      else sheet.put(350, label).put(545, money(value), sheet.y, true)
      sheet.down()
    }
  }
  if (layout.paidBefore === true) {
    const paid = { en: "Deposit paid", de: "Anzahlung", fr: "Acompte", nl: "Betaald" }[language]
    sheet.put(320, `${paid}: ${money(Math.floor(net / 3))}`)
    sheet.down()
  }
  if (layout.balance === true) {
    const old = { en: "Open items", de: "Offene Posten", fr: "Encours", nl: "Openstaand" }[language]
    sheet.put(320, `${old}: ${money(net * 2 + 311)}`)
  }
  sheet.y = 740
  if (sender === "footer") sheet.put(50, vendor).put(300, `www.${site}`).down()
  sheet.put(50, `${pick(t.vat)}: ${vatId}`)
  sheet.down()
  if (layout.bank === true) sheet.put(50, `IBAN ${iban.replace(/(.{4})/g, "$1 ").trim()}`)
  return {
    layout: `made-${index}`,
    document: { pages: [{ width: 59_500, height: 84_200, items: sheet.items }], xml: [], warnings: [] },
    labels: {
      invoice_number: number,
      date,
      due_date: due,
      total: ((net + tax) / 100).toFixed(2),
      net: (net / 100).toFixed(2),
      tax: (tax / 100).toFixed(2),
      currency: language === "en" ? "GBP" : "EUR",
      vendor: sender === "domain" ? vendor.split(" ").slice(0, 2).join(" ") : vendor,
      vat_id: vatId,
      ...(layout.bank === true ? { iban } : {})
    }
  }
}

/** How many layouts there are. */
export const LAYOUTS = layouts.length
