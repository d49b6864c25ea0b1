import { fileURLToPath } from "node:url"
import { extractFields, type ReadDocument } from "@flyball/rules"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { type DocumentFile, DocumentReader, type DocumentReaderOptions, type ReadFailure } from "./document-reader.ts"

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../../../fixtures/invoices/${name}`, import.meta.url))
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Reads in one pool, one after the other; a failure is its code. */
const readAll = (
  files: ReadonlyArray<readonly [DocumentFile, string]>,
  options?: DocumentReaderOptions
): Promise<ReadonlyArray<ReadDocument | ReadFailure["code"]>> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const reader = yield* DocumentReader
      return yield* Effect.forEach(files, ([file, type]) =>
        reader.read(file, type).pipe(Effect.catch(({ code }) => Effect.succeed(code)))
      )
    }).pipe(Effect.provide(DocumentReader.layer(options)))
  )
const read = async (file: DocumentFile, type = "application/pdf"): Promise<ReadDocument> => {
  const [one] = await readAll([[file, type]])
  if (typeof one === "string") throw new Error(one)
  return one!
}

describe("documents that are read", () => {
  it("an invoice gives its fields", async () => {
    const document = await read({ path: fixture("coolblue1.pdf") })
    const { fields, type } = extractFields(document, null)
    assert.strictEqual(type, "invoice")
    assert.strictEqual(fields["invoice_number"]?.value, "993548900")
    assert.strictEqual(fields["total"]?.value, "717.97")
    assert.strictEqual(fields["iban"]?.evidence.checksum, true)
  })
  it("an image is none without an engine, whatever it is called, and a scan has no text", async () => {
    const image = fixture("../documents/scanned.png")
    const types = ["image/png", "application/pdf", "text/plain"]
    assert.deepStrictEqual(
      await readAll(types.map((type) => [{ path: image }, type])),
      types.map(() => "unsupported_type")
    )
    assert.deepStrictEqual(await readAll([[{ path: fixture("../documents/scanned.pdf") }, "application/pdf"]]), [
      "no_text"
    ])
  })
  it("invoices of many layouts give number, date and total, without their XML", async () => {
    const printed = [
      ["AmazonWebServices", "42183017 2014-08-03 4.11"],
      ["MustangGnuaccountingBeispielRE-20140519_499", "RE-20140519/499 2014-05-19 559.84"],
      ["MustangGnuaccountingBeispielRE-20150613_503", "RE-20150613/503 2015-06-13 406.82"],
      ["MustangGnuaccountingBeispielRE-20190610_507a", "RE-20190610/507 2019-06-10 571.04"],
      ["MustangGnuaccountingBeispielRE-20201121_508", "RE-20201121/508 2020-11-21 571.04"],
      ["QualityHosting", "30064443 2014-05-07 34.73"],
      ["SammyMaystoneLinesTest", "invoice_number_1 2022-01-01 127.50"],
      ["free_fiber", "562044387 2015-07-02 29.99"],
      ["saeco", "VF1005193039 2022-09-08 49.99"]
    ]
    const read = await readAll(printed.map(([name]) => [{ path: fixture(`${name}.pdf`) }, "application/pdf"]))
    const found = read.map((document) => {
      const { fields } = extractFields({ ...(document as ReadDocument), xml: [] }, "invoice")
      return ["invoice_number", "date", "total"].map((name) => fields[name]?.value).join(" ")
    })
    assert.deepStrictEqual(
      found,
      printed.map(([, fields]) => fields)
    )
  })
  it("XML that says another total than the page is a warning with both", async () => {
    const document = await read({ path: fixture("MustangGnuaccountingBeispielRE-20150613_503.pdf") })
    assert.deepStrictEqual(extractFields(document, null).warnings, [
      { code: "xml_differs_from_print", field: "total", values: ["571.04", "406.82"] }
    ])
  })
  it("plain text is laid out in lines", async () => {
    const document = await read({ bytes: utf8("Invoice no: A-17\nTotal   12.50 EUR") }, "text/plain")
    assert.deepStrictEqual(
      document.pages[0]!.items.map(({ text, x, y }) => [text, x, y]),
      [
        ["Invoice no: A-17", 0, 0],
        ["Total", 0, 1_200],
        ["12.50 EUR", 4_800, 1_200]
      ]
    )
    const long = await read({ bytes: utf8(`Total 12.50 EUR\n${"word ".repeat(10_000)}end`) }, "text/plain")
    assert.match(long.pages.flatMap(({ items }) => items).at(-1)!.text, / end$/)
  })
  it("bytes that are no document of a known type are refused, and the next is read", async () => {
    const [none, text] = await readAll([
      [{ bytes: new Uint8Array(100) }, "application/pdf"],
      [{ bytes: utf8("Total 1.00 EUR") }, "text/plain"]
    ])
    assert.strictEqual(none, "unsupported_type")
    assert.isObject(text)
  })
})
