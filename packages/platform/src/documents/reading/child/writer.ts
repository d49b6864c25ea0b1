/** Sends a document to the host in slices, so that neither side holds up its loop, and holds its caps. */
import type { DocumentWarning, ExtractionFailure, TextItem } from "@flyball/rules"
import type { Heard } from "../protocol.ts"

const MAX_ITEMS = 100_000
const MAX_CHARACTERS = 5_000_000
const PER_MESSAGE = 500
/** Roots of the invoices that rules read. */
export const invoiceRoot = /<(?:[\w.-]+:)?(?:CrossIndustryInvoice|CrossIndustryDocument|Invoice|CreditNote)[\s>]/

/** Why a document is not read. */
export class Unreadable extends Error {
  readonly code: ExtractionFailure
  constructor(code: ExtractionFailure) {
    super(code)
    this.code = code
  }
}

/** Takes what readers of formats write. */
export class Writer {
  private items: Array<TextItem> = []
  private last: TextItem | null = null
  private readonly warnings = new Set<DocumentWarning["code"]>()
  private readonly documents: Array<{ name: string; text: string }> = []
  private count = 0
  private characters = 0
  private seen = false

  private readonly send: (heard: Heard) => void

  constructor(send: (heard: Heard) => void) {
    this.send = send
  }

  warn(code: DocumentWarning["code"]): void {
    this.warnings.add(code)
  }

  page(width: number, height: number): void {
    this.flush()
    this.send({ width, height })
  }

  /** - Fails: throws `Unreadable` past a cap. */
  item(raw: TextItem): void {
    const text = raw.text.normalize("NFKC").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0]/gu, " ")
    if (text.trim() === "") return
    this.characters += text.length
    if (raw.hidden === null) this.seen = true
    else this.warn("hidden_text")
    const item = { ...raw, text: text.slice(0, 3_900) }
    const { last } = this
    if (last !== null && continues(last, item) && last.text.length + item.text.length < 2_000) {
      this.last = { ...last, text: last.text + item.text, width: item.x + item.width - last.x }
      return
    }
    this.count += 1
    if (this.count > MAX_ITEMS || this.characters > MAX_CHARACTERS) throw new Unreadable("too_large")
    if (last !== null) this.items.push(last)
    this.last = item
    if (this.items.length >= PER_MESSAGE) this.sendItems()
  }

  /** Keeps XML that rules can read; false for other XML. */
  xml(name: string, content: Uint8Array): boolean {
    const text = decodeText(content)
    if (!invoiceRoot.test(text.slice(0, 20_000)) || this.documents.length >= 4) return false
    // Entities are how XML grows and reads other files; no invoice needs them.
    if (/<!DOCTYPE/i.test(text)) throw new Unreadable("malformed")
    this.documents.push({ name: name.slice(0, 255), text })
    return true
  }

  /** - Fails: throws `Unreadable` where nothing can be read. */
  end(): void {
    this.flush()
    if (!this.seen && this.documents.length === 0) throw new Unreadable("no_text")
    this.send({ xml: this.documents, warnings: [...this.warnings].map((code) => ({ code })) })
  }

  private flush(): void {
    if (this.last !== null) this.items.push(this.last)
    this.last = null
    this.sendItems()
  }

  private sendItems(): void {
    if (this.items.length > 0) this.send({ items: this.items })
    this.items = []
  }
}

/** True where an item is the next letters of the word before it. */
const continues = (last: TextItem, item: TextItem): boolean => {
  const gap = item.x - (last.x + last.width)
  return (
    last.hidden === item.hidden &&
    last.y === item.y &&
    last.height === item.height &&
    gap > -0.2 * item.height &&
    gap < 0.12 * item.height
  )
}

/** Text of bytes: UTF-8 and UTF-16 by their mark, else UTF-8, else Windows-1252. */
export const decodeText = (bytes: Uint8Array): string => {
  const mark = (bytes[0]! << 8) | bytes[1]!
  if (mark === 0xfffe) return new TextDecoder("utf-16le").decode(bytes)
  if (mark === 0xfeff) return new TextDecoder("utf-16be").decode(bytes)
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder("windows-1252").decode(bytes)
  }
}
