import { readFileSync } from "node:fs"
import { extractFields, type ReadDocument } from "@flyball/rules"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import {
  bomb,
  docxOf,
  docxWith,
  encryptedPdf,
  fuzzed,
  hostilePdfs,
  nestedMail,
  pdfWith
} from "../testing/hostile-files.ts"
import { DocumentReader, type DocumentReaderOptions } from "./document-reader.ts"

const PDF = "application/pdf"
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../../../../../fixtures/invoices/${name}`, import.meta.url)))
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const real = fixture("QualityHosting.pdf")

type Ended = ReadDocument | string
const readAll = (
  files: ReadonlyArray<readonly [Uint8Array, string]>,
  options?: DocumentReaderOptions
): Promise<ReadonlyArray<Ended>> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const reader = yield* DocumentReader
      return yield* Effect.forEach(files, ([bytes, type]) =>
        reader.read({ bytes }, type).pipe(Effect.catch(({ code }) => Effect.succeed(code)))
      )
    }).pipe(Effect.provide(DocumentReader.layer(options)))
  )
const readOne = async (bytes: Uint8Array, type: string): Promise<Ended> => (await readAll([[bytes, type]]))[0]!
const codesOf = (ended: Ended): ReadonlyArray<string> =>
  typeof ended === "string" ? [ended] : ended.warnings.map(({ code }) => code)
const textOf = (ended: Ended, hidden: boolean): string =>
  typeof ended === "string"
    ? ended
    : ended.pages
        .flatMap(({ items }) => items.flatMap((item) => ((item.hidden !== null) === hidden ? item.text : [])))
        .join("|")

describe("hostile files", () => {
  it("a file that cheats with sizes, loops and cuts ends with its code", async () => {
    const { "2^30 forms": forms, "3 million texts": texts, ...files } = hostilePdfs(real)
    const ended = await readAll(Object.values(files).map((bytes) => [bytes, PDF]))
    const codes = Object.keys(files).map((name, at) => [name, typeof ended[at] === "string" ? ended[at] : "read"])
    assert.deepStrictEqual(Object.fromEntries(codes), {
      "page loop": "malformed",
      "form loop": "no_text",
      "huge xref": "no_text",
      brackets: "malformed",
      half: "malformed",
      "no tail": "malformed",
      "no PDF": "unsupported_type"
    })
    const ends = await readAll(
      [
        [forms!, PDF],
        [texts!, PDF]
      ],
      { longestMs: 4_000 }
    )
    for (const end of ends) assert.include(["too_slow", "too_much_memory", "too_large"], end)
  })
  it("1 KB that grows to 400 MB costs a child, and the next document is read", async () => {
    const small = bomb(400_000_000)
    assert.isBelow(small.length, 4_000)
    const [lost, next] = await readAll(
      [
        [small, PDF],
        [real, PDF]
      ],
      { memoryBytes: 256 * 1024 * 1024 }
    )
    assert.strictEqual(lost, "too_much_memory")
    assert.include(textOf(next!, false), "30064443")
  })
  it("an encrypted PDF says so", async () => {
    assert.strictEqual(await readOne(encryptedPdf(), PDF), "encrypted")
  })
  it("fuzzed PDFs end", async () => {
    const files = Array.from({ length: 20 }, (_, seed) => [fuzzed(real, seed), PDF] as const)
    const ended = await readAll(files, { longestMs: 3_000 })
    assert.isTrue(ended.some((one) => typeof one !== "string"))
    assert.notInclude(ended, "interrupted")
  })
  it("more than 50 MB are refused", async () => {
    assert.strictEqual(await readOne(new Uint8Array(51 * 1024 * 1024), PDF), "too_large")
  })
  it("a ZIP with many entries, one that grows a thousandfold, and one without a document are refused", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`word/x${at}.xml`, utf8("")]))
    const ended = await readAll([
      [docxOf(many), DOCX],
      [docxOf({ "word/document.xml": new Uint8Array(15_000_000) }), DOCX],
      [docxOf({ "other.txt": utf8("Total 1.00 EUR") }), DOCX],
      [utf8("PK\u0003\u0004 and no more"), DOCX]
    ])
    assert.deepStrictEqual(ended, ["too_large", "too_large", "unsupported_type", "malformed"])
  })
  it("a mail nested 300 deep is refused", async () => {
    assert.strictEqual(await readOne(nestedMail(300), "message/rfc822"), "malformed")
  })
  it("XML with a document type is refused", async () => {
    const xml = `<?xml version="1.0"?><!DOCTYPE Invoice [<!ENTITY a "aaaa">]><Invoice><ID>&a;</ID></Invoice>`
    assert.strictEqual(await readOne(utf8(xml), "application/xml"), "malformed")
  })
})

describe("text that nobody sees", () => {
  const at = (y: number, text: string, state = ""): string =>
    `q BT /F 10 Tf ${state} 1 0 0 1 50 ${y} Tm (${text}) Tj ET Q `
  it("is marked with its reason, and white text on a dark ground is seen", async () => {
    const content =
      at(700, "Total 12.00 EUR") +
      at(690, "mode", "3 Tr") +
      at(680, "pale", "1 1 1 rg") +
      "0 0 0.5 rg 40 600 300 30 re f " +
      at(610, "heading", "1 1 1 rg") +
      "q BT /F 1 Tf 1 0 0 1 50 500 Tm (dust) Tj ET Q q BT /F 10 Tf 1 0 0 1 50 900 Tm (away) Tj ET Q"
    const read = await readOne(pdfWith(content), PDF)
    assert.isObject(read)
    const items = (read as ReadDocument).pages[0]!.items.map(({ hidden, text }) => [text, hidden])
    assert.deepStrictEqual(items, [
      ["Total 12.00 EUR", null],
      ["mode", "render_mode"],
      ["pale", "white"],
      ["heading", null],
      ["dust", "small"],
      ["away", "outside"]
    ])
    assert.deepStrictEqual(codesOf(read), ["hidden_text"])
  })
  it("never becomes a field", async () => {
    const content = at(700, "Invoice no: A-17") + at(650, "Total 12.00 EUR") + at(640, "Grand total 999.00 EUR", "3 Tr")
    const read = await readOne(pdfWith(content), PDF)
    const { fields, warnings } = extractFields(read as ReadDocument, "invoice")
    assert.strictEqual(fields["total"]?.value, "12.00")
    assert.deepStrictEqual(
      warnings.map(({ code }) => code),
      ["hidden_text"]
    )
  })
  it("alone is no text", async () => {
    assert.strictEqual(await readOne(pdfWith(at(700, "Total 12.00 EUR", "3 Tr")), PDF), "no_text")
  })
  it("of HTML and DOCX is known by its style", async () => {
    const html =
      `<style>.x{display:none}</style><p>Total <b>12.00 EUR</b></p><p class="x">a</p><div style="color:#fff">b</div>` +
      `<span hidden>c</span><table><tr><td>Net</td><td>10.00</td></tr></table>`
    const run = (text: string, style = ""): string => `<w:p><w:r><w:rPr>${style}</w:rPr><w:t>${text}</w:t></w:r></w:p>`
    const docx = docxWith(run("Total 12.00 EUR"), run("a", "<w:vanish/>"), run("b", `<w:color w:val="FFFFFF"/>`))
    const [page, file] = await readAll([
      [utf8(html), "text/html"],
      [docx, DOCX]
    ])
    assert.strictEqual(textOf(page!, false), "Total 12.00 EUR|Net|10.00")
    assert.strictEqual(textOf(page!, true), "a|b|c")
    assert.strictEqual(textOf(file!, false), "Total 12.00 EUR")
    assert.strictEqual(textOf(file!, true), "a|b")
  })
})

describe("what stands in a file beside its text", () => {
  it("scripts, launch actions and attachments are warnings", async () => {
    const action = "/OpenAction<</S/JavaScript/JS(app.alert(1))>>"
    const launch = "/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/#4caunch/F(a.exe)>>>>]"
    const read = await readOne(pdfWith("BT /F 9 Tf 50 700 Td (Total 1.00 EUR) Tj ET", action, launch), PDF)
    assert.deepStrictEqual(codesOf(read), ["script", "launch_action"])
    const mail = utf8(
      "From: Shop <a@example.com>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" +
        "Content-Type: text/plain\r\n\r\nTotal 1.00 EUR\r\n--b\r\nContent-Type: application/zip\r\n" +
        "Content-Disposition: attachment; filename=a.zip\r\n\r\nzip\r\n--b--\r\n"
    )
    assert.deepStrictEqual(codesOf(await readOne(mail, "message/rfc822")), ["attachment"])
  })
  it("a PDF that is called text is read as a PDF, and XML inside comes with it", async () => {
    const read = await readOne(fixture("MustangGnuaccountingBeispielRE-20201121_508.pdf"), "text/plain")
    const { fields } = extractFields(read as ReadDocument, null)
    assert.strictEqual((read as ReadDocument).xml[0]?.name, "factur-x.xml")
    assert.strictEqual(fields["total"]?.value, "571.04")
    assert.strictEqual(fields["total"]?.evidence.rule, "xml")
  })
})
