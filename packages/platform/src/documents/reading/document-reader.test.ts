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
