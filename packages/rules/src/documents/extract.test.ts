import { assert, describe, it } from "vitest"
import { isIban, vatIdsIn } from "./checksums.ts"
import type { ReadDocument } from "./document.ts"
import { extractFields } from "./extract.ts"
import { documentFacts } from "./facts.ts"
import { linesOf } from "./layout.ts"
import { maskField } from "./mask.ts"
import { checkDigit } from "./mrz.ts"
import { amountsIn, datesIn } from "./values.ts"
import { readXml } from "./xml.ts"

/** A page of text: two spaces part columns. */
const page = (text: string, xml: ReadonlyArray<string> = []): ReadDocument => {
  const items = text.split("\n").flatMap((line, row) =>
    [...line.matchAll(/\S+(?: \S+)*/g)].map((match) => ({
      text: match[0],
      x: match.index * 600,
      y: row * 1_200,
      width: match[0].length * 600,
      height: 1_000,
      hidden: null
    }))
  )
  const pages = [{ width: 60_000, height: 80_000, items }]
  return { pages, xml: xml.map((one) => ({ name: "factur-x.xml", text: one })), warnings: [] }
}
const valuesOf = (
  text: string,
  type: Parameters<typeof extractFields>[1] = null
): { readonly [name: string]: string } => {
  const { candidates, fields } = extractFields(page(text), type)
  return Object.fromEntries(Object.entries({ ...candidates, ...fields }).map(([name, { value }]) => [name, value]))
}

describe("values", () => {
  it("amounts have a currency or cents, and are no rates, quantities or dates", () => {
    const values = (text: string): ReadonlyArray<string> => amountsIn(text).map(({ value }) => value)
    assert.deepStrictEqual(values("1.234,56 € and $1,234.5 and 12 pieces at 19,00 %"), ["1234.56"])
    assert.deepStrictEqual(values("EUR 1 234,50; 1'000.00 CHF; -7.00; 5.00-; 0,025 €"), [
      "1234.50",
      "1000.00",
      "-7.00",
      "-5.00"
    ])
    assert.deepStrictEqual(values("€ 1.500 and Rs. 2,00,000.00"), ["1500.00", "200000.00"])
  })
  it("dates are read in the forms of their country", () => {
    const values = (text: string, american = false): ReadonlyArray<string> =>
      datesIn(text, american).map(({ value }) => value)
    assert.deepStrictEqual(values("7. Mai 2014, August 3 , 2014, 02 Juillet 2015, 1 maart 2020"), [
      "2014-05-07",
      "2014-08-03",
      "2015-07-02",
      "2020-03-01"
    ])
    assert.deepStrictEqual(values("03/04/2020 and 2020-02-01"), ["2020-04-03", "2020-02-01"])
    assert.deepStrictEqual(values("03/04/2020 and 31.12.19", true), ["2020-03-04", "2019-12-31"])
    assert.deepStrictEqual(values("47 dated 21 April 2022"), ["2022-04-21"])
    assert.deepStrictEqual(values("99/99/2020 and 192.168.10.20"), [])
  })
  it("check digits", () => {
    assert.isTrue(isIban("NL50INGB0683251309"))
    assert.isFalse(isIban("NL50INGB0683251308"))
    assert.strictEqual(checkDigit("L898902C3"), "6")
    assert.deepStrictEqual(
      vatIdsIn("UStId DE 232 446 240, FR 604 219 388 61").map(({ value }) => value),
      ["DE232446240", "FR60421938861"]
    )
  })
  it("masked fields show their last four characters", () => {
    assert.strictEqual(maskField("iban", "NL50INGB0683251309"), "••••••••••••••1309")
    assert.strictEqual(maskField("id_number", "A12"), "•••")
    assert.strictEqual(maskField("total", "12.50"), "12.50")
  })
})

describe("fields by type", () => {
  it("an invoice: the nearest label decides, and net and tax must make the total", () => {
    const { fields, type, warnings } = extractFields(
      page(
        "Muster & Söhne GmbH\nWeg 1\n\nRechnung\nKundennummer  4711\nRechnungsnummer  R-2020/17\nDatum  03.02.2020\n" +
          "Fällig am  17.02.2020\n\nLieferdatum  01.02.2020\n\nNetto  100,00 €\nzzgl. 19% MwSt.  19,00 €\n" +
          "Gesamtbetrag  119,00 €\nAnzahlung  50,00 €\n\nUSt-IdNr. DE123456789  IBAN DE02 1203 0000 0000 2020 51"
      ),
      null
    )
    assert.strictEqual(type, "invoice")
    assert.deepStrictEqual(warnings, [])
    assert.deepStrictEqual(Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value])), {
      invoice_number: "R-2020/17",
      date: "2020-02-03",
      due_date: "2020-02-17",
      total: "119.00",
      net: "100.00",
      tax: "19.00",
      currency: "EUR",
      vendor: "Muster & Söhne GmbH",
      vat_id: "DE123456789",
      iban: "DE02120300000000202051"
    })
    assert.strictEqual(fields["total"]?.evidence.arithmetic, true)
    assert.strictEqual(fields["iban"]?.evidence.checksum, true)
    assert.strictEqual(fields["total"]?.evidence.label, "Gesamtbetrag")
    assert.deepStrictEqual(fields["total"]?.evidence.box, [8_400, 15_600, 4_800, 1_000])
  })
  it("a total without a label that rules know is the sum of two amounts near it", () => {
    assert.strictEqual(
      valuesOf("Invoice\nFoo  200.00\nBar  40.00\nSum  240.00\nOpen  999.00", "invoice")["total"],
      "240.00"
    )
  })
  it("wrong check digits of an IBAN are stated", () => {
    const { fields, warnings } = extractFields(page("Invoice\nIBAN NL50INGB0683251308"), "invoice")
    assert.strictEqual(fields["iban"]?.evidence.checksum ?? false, false)
    assert.isTrue(warnings.every(({ code }) => code === "checksum"))
  })
  it("a credit note states what goes back as it is, without its sign", () => {
    const { fields, type } = extractFields(page("Gutschrift Nr. G-5\nGesamtbetrag  -233,47 €"), null)
    assert.strictEqual(type, "credit_note")
    assert.strictEqual(fields["total"]?.value, "233.47")
  })
  it("a receipt", () => {
    const text =
      "CORNER SHOP LTD\n12 HIGH ST\n\nRECEIPT\n12/03/2018 10:04\nTEA  2.50\nCAKE  3.50\nTOTAL  £6.00\n" +
      "CASH  10.00\nCHANGE  4.00"
    assert.deepStrictEqual(valuesOf(text), {
      company: "CORNER SHOP LTD",
      date: "2018-03-12",
      total: "6.00",
      currency: "GBP"
    })
  })
  it("a receipt: the total is what was paid once it was rounded, not what its table of taxes sums up", () => {
    const text =
      "HARDWARE &\nELECTRICAL SDN BHD (126926-H)\nCO. REG NO: 12345-X\nLOT 1851, JALAN 6, 43300 TOWN\n\nRECEIPT\n" +
      "25/12/2018\nSUB TOTAL  58.33\nGST 6%  3.50\nTOTAL INCLUDES GST  61.83\nROUNDING  0.02\nROUNDED TOTAL  61.85\n" +
      "CASH  100.00\nCHANGE  38.15\nGST SUMMARY\nTOTAL  58.33  3.50"
    const { fields } = extractFields(page(text), "receipt")
    assert.strictEqual(fields["company"]?.value, "HARDWARE & ELECTRICAL SDN BHD")
    assert.deepInclude(fields["total"], { value: "61.85", confidence: 970 })
    assert.strictEqual(fields["total"]?.evidence.arithmetic, true)
    const till = text.replace("RECEIPT", "TAX INVOICE\nInvoice no: 7")
    assert.strictEqual(extractFields(page(till), null).type, "receipt")
    const unlabelled = text.replace("ROUNDED TOTAL", "").replace("CASH  100.00\nCHANGE  38.15\n", "")
    assert.deepInclude(extractFields(page(unlabelled), "receipt").fields["total"], { value: "61.85", confidence: 890 })
  })
  it("a bank statement, whose bookings must make the difference of its balances", () => {
    const text =
      "Kontoauszug\nIBAN DE02 1203 0000 0000 2020 51\nZeitraum vom 01.03.2020 bis 31.03.2020\n" +
      "Anfangssaldo  1.000,00 €\n" +
      "05.03.2020 Miete  -700,00 €\n09.03.2020 Gehalt  2.000,00 €\nEndsaldo  2.300,00 €"
    const { fields, type } = extractFields(page(text), null)
    assert.strictEqual(type, "bank_statement")
    assert.deepStrictEqual(valuesOf(text), {
      opening_balance: "1000.00",
      closing_balance: "2300.00",
      period_from: "2020-03-01",
      period_to: "2020-03-31",
      iban: "DE02120300000000202051"
    })
    assert.strictEqual(fields["closing_balance"]?.evidence.arithmetic, true)
    const wrong = extractFields(page(text.replace("2.300", "2.301")), null)
    assert.isTrue(wrong.warnings.some(({ code }) => code === "arithmetic"))
  })
  it("an identity document by its machine-readable zone, with the check digits of ICAO 9303", () => {
    const zone = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10"
    const { confidence, fields, type } = extractFields(page(zone), null)
    assert.strictEqual(type, "identity_document")
    assert.isAtLeast(confidence, 900)
    assert.deepStrictEqual(valuesOf(zone), {
      id_number: "L898902C3",
      surname: "ERIKSSON",
      given_names: "ANNA MARIA",
      nationality: "UTO",
      date_of_birth: "1974-08-12",
      expiry_date: "2012-04-15"
    })
    assert.strictEqual(fields["id_number"]?.evidence.checksum, true)
    const card = "I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<"
    assert.strictEqual(valuesOf(card)["id_number"], "D23145890")
    assert.strictEqual(extractFields(page(zone.replace("C36", "C37")), null).fields["id_number"], undefined)
  })
  it("text that a machine recognised is sure of nothing", () => {
    const invoice = "Invoice number: A-17\nDate: 2026-11-03\nNet  100.00\nVAT 19%  19.00\nTotal EUR  119.00"
    const all = (document: ReadDocument): ReadonlyArray<number> =>
      Object.values(extractFields(document, "invoice").fields).map(({ confidence }) => confidence)
    assert.isAbove(Math.max(...all(page(invoice))), 900)
    const recognised = all({ ...page(invoice), warnings: [{ code: "recognised_text" }] })
    assert.deepStrictEqual([recognised.length, Math.max(...recognised)], [all(page(invoice)).length, 800])
  })
  it("a page made to be slow is read in part, and says so", () => {
    const item = { text: "1.00 Total 2020-01-01 A-1 ", width: 100, height: 1_000, hidden: null }
    const items = Array.from({ length: 20_000 }, (_, at) => ({ ...item, x: (at % 200) * 3_000, y: 1_200 * (at >> 8) }))
    const slow = { pages: [{ width: 60_000, height: 80_000, items }], xml: [], warnings: [] }
    assert.deepStrictEqual(extractFields(slow, "invoice").warnings.at(0), { code: "partly_read" })
    assert.isBelow(linesOf(slow).flat().length, 1_500)
    const text = "1.00 TOTAL cash 2.00 change ".repeat(3)
    const till = Array.from({ length: 1_500 }, (_, at) => ({
      ...item,
      text,
      x: (at % 60) * 1_000,
      y: 1_200 * Math.floor(at / 60)
    }))
    // 20 s where each amount is held against all that stands before it.
    const pages = Array.from({ length: 10 }, () => ({ width: 60_000, height: 80_000, items: till }))
    assert.strictEqual(extractFields({ pages, xml: [], warnings: [] }, null).type, "receipt")
  })
  it("other documents have no fields by rules", () => {
    assert.deepStrictEqual(valuesOf("Dear Sir\nTotal  12.00 EUR"), {})
    assert.deepStrictEqual(valuesOf("Invoice 7\nTotal  12.00 EUR", "contract"), {})
  })
})

describe("XML inside", () => {
  const cii =
    `<?xml version="1.0"?><rsm:CrossIndustryInvoice xmlns:rsm="a" xmlns:ram="b"><rsm:ExchangedDocument>` +
    `<ram:ID>R-17</ram:ID><ram:TypeCode>380</ram:TypeCode><ram:IssueDateTime><udt:DateTimeString format="102">` +
    `20200203</udt:DateTimeString></ram:IssueDateTime></rsm:ExchangedDocument>` +
    `<ram:SellerTradeParty><ram:Name>A &amp; B GmbH` +
    `</ram:Name></ram:SellerTradeParty><ram:ApplicableHeaderTradeSettlement><ram:InvoiceCurrencyCode>EUR` +
    `</ram:InvoiceCurrencyCode><ram:SpecifiedTradeSettlementHeaderMonetarySummation><ram:GrandTotalAmount>119.00` +
    `</ram:GrandTotalAmount></ram:SpecifiedTradeSettlementHeaderMonetarySummation>` +
    `</ram:ApplicableHeaderTradeSettlement></rsm:CrossIndustryInvoice>`
  const print = (total: string): string =>
    `A & B GmbH\nRechnungsnummer  R-17\nDatum  03.02.2020\nGesamtbetrag  ${total} €`
  it("is exact, and agrees with the print", () => {
    const { confidence, fields, warnings } = extractFields(page(print("119,00"), [cii]), null)
    assert.deepStrictEqual(warnings, [])
    assert.strictEqual(fields["vendor"]?.value, "A & B GmbH")
    assert.strictEqual(fields["total"]?.evidence.page, null)
    assert.strictEqual(confidence, 990)
  })
  it("that differs from the print is a warning with both values", () => {
    const { confidence, warnings } = extractFields(page(print("1.119,00"), [cii]), null)
    assert.deepStrictEqual(warnings, [
      { code: "xml_differs_from_print", field: "total", values: ["119.00", "1119.00"] }
    ])
    assert.strictEqual(confidence, 500)
    const both = extractFields(page(`${print("1.119,00")}\nPosten  119,00 €`, [cii]), null)
    assert.deepStrictEqual(both.warnings, warnings)
  })
  it("is not what hidden text says", () => {
    const { pages, ...rest } = page("Invoice\nTotal  12.00 EUR")
    const items = pages[0]!.items.map((item) => ({ ...item, hidden: "white" as const }))
    assert.deepStrictEqual(extractFields({ ...rest, pages: [{ ...pages[0]!, items }] }, "invoice").fields, {})
  })
  it("of UBL", () => {
    const ubl =
      `<Invoice xmlns="u"><cbc:ID>U-1</cbc:ID><cbc:IssueDate>2021-05-06</cbc:IssueDate><cbc:DocumentCurrencyCode>SEK` +
      `</cbc:DocumentCurrencyCode><cac:LegalMonetaryTotal><cbc:TaxInclusiveAmount>10</cbc:TaxInclusiveAmount>` +
      `</cac:LegalMonetaryTotal></Invoice>`
    const { fields } = extractFields({ pages: [], xml: [{ name: "a.xml", text: ubl }], warnings: [] }, null)
    assert.deepStrictEqual(
      Object.entries(fields).map(([name, { value }]) => `${name} ${value}`),
      ["invoice_number U-1", "date 2021-05-06", "total 10.00", "currency SEK"]
    )
  })
  it("with entities, without an end or too deep is not read", () => {
    assert.isNull(readXml(`<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`))
    assert.isNull(readXml("<a><b></a>"))
    assert.isNull(readXml(`${"<a>".repeat(70)}${"</a>".repeat(70)}`))
    assert.strictEqual(readXml("<x:a>1 &lt; 2<![CDATA[ <3]]></x:a>")?.text, "1 < 2 <3")
  })
})

describe("what a model says", () => {
  const text = page("Invoice\nTo pay soon  12.00 EUR\nRef  1200  55\nDE89 3704 0044\n0532 0130 00\nAcme\nTools Ltd")
  const read = (said: { readonly [name: string]: string }) => extractFields(text, "invoice", said)
  it("becomes a field where it stands in the text as whole words, also over lines", () => {
    const { fields, warnings } = read({
      shop: "ACME tools, Ltd",
      invoice_number: "00 55",
      net: "200",
      dash: "—",
      due_date: "soon"
    })
    assert.deepInclude(fields["shop"], { value: "ACME tools, Ltd", confidence: 700 })
    assert.deepInclude(fields["shop"]?.evidence, { page: 1, box: null, rule: "model" })
    assert.deepStrictEqual(
      warnings.filter(({ code }) => code === "ungrounded").map(({ field }) => field),
      ["dash", "due_date", "invoice_number", "net"]
    )
  })
  it("is no fact, and is masked where nobody knows its field", () => {
    const found = read({ total: "12.00 EUR", iban: "DE89 3704 0044 0532 0130 00", constructor: "Acme" })
    assert.deepInclude(found.fields["total"], { value: "12.00", confidence: 700 })
    assert.deepStrictEqual(documentFacts(found), { confidence: 0, currency: "EUR", iban_known: false })
    assert.strictEqual(maskField("constructor", found.fields["constructor"]!.value), "••••")
  })
})
