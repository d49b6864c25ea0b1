/** Finds who sent a document: by legal form, the sender's line above an address, the VAT id and addresses of mail. */
import type { Guess } from "./guess.ts"
import { vatIdsIn } from "./checksums.ts"
import type { Line, Segment } from "./layout.ts"

/** A long pattern in lines, whose ends part nothing. */
const pattern = (source: string, flags: string): RegExp => new RegExp(source.replace(/\n\s*/g, ""), flags)

const form = pattern(
  String.raw`
    (?<![\p{L}])(?:GmbH(?: & Co\.?(?: ?KG(?:aA)?)?)?|AG|KG|OHG|UG(?: \(haftungsbeschränkt\))?|e\. ?[KV]\.|mbH|SE|
    Ltd\.?|Limited|LLC|LLP|Inc\.?|Corp\.?|Corporation|PLC|plc|S\.?A\.?S\.?U?|S\.?A\.?R\.?L\.?|EURL|SNC|B\.?V\.?|
    N\.?V\.?|V\.?O\.?F\.?|BVBA|SRL|S\.?r\.?l\.?|S\.?p\.?A\.?|S\.L\.|Sdn\.? ?Bhd\.?|Pty\.? Ltd\.?|Pvt\.? Ltd\.?|
    A/S|ApS|AB|Oy|S\.A\.|SA|S[DN]N\.? ?B[HN]D\.?|BHD\.?|S/B)(?![\p{L}])`,
  "u"
)
const separators = /\s*(?:[●•|·,]|\s[-–—*]\s)\s*/
const recipients = pattern(
  String.raw`
    ^(?:käufer|buyer|acheteur|koper|(?:\p{L}+ )?\p{L}*empfänger|bill(?:ed)? to|ship to|sold to|invoice to|customer|
    client|kunde|an|rechnung an|
    lieferanschrift|rechnungsadresse|rechnungsanschrift|factuuradres|afleveradres|facturé à|adressé à|
    destinataire|deliver to|attn|to|bill to address|z\.? ?h\.?d\.?)\b\s*:?`,
  "iu"
)
const senders = pattern(
  String.raw`
    ^(?:seller|vendor|supplier|from|sold by|service provider|verkäufer|lieferant|absender|rechnungssteller|
    vendeur|émetteur|fournisseur|leverancier|verkoper|payee|account holder|kontoinhaber|kontoinh\.|titulaire|
    inhaber)\b\s*:?`,
  "i"
)
const noName = pattern(
  String.raw`
    ^(?:[\d\W]*$|\d{5}|\(?c\)|©|nummer|globale nummer|gln|name|anschrift|seite|page|pagina|invoice|tax invoice|
    rechnung|facture|factuur|datum|date|tel|fax|e-?mail|www|http|iban|bic|original|copy|kopie|gutschrift|credit note|
    statement|receipt|order|total|subtotal)`,
  "i"
)

const nameLabel = /^name\s*:\s*/i

/** Lines of a receipt that are no name, although they stand where one does. */
const noShop = pattern(
  String.raw`
    ^(?:no|lot|jalan|jln|unit|level|tel|ph(?:one)?|(?:co|company)\.? ?(?:no|reg)|roc|reg|gst|tax|simplified|posted|
    machine|formerly|hq|cash|goods|thank)\b`,
  "i"
)
/** How a name goes on in the next line: a legal form that stands alone. */
const goesOn = /^(?:&|CO\.|\(M\)|SDN|S\/B|TRADING|ENTERPRISE)/

/** The top of a receipt, where a name that is broken into lines is one line. */
const topOf = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> =>
  lines.slice(0, 12).map((line, index) => {
    const [first, next] = [line[0], lines[index + 1]?.[0]]
    if (line.length !== 1 || first === undefined || next === undefined) return line
    return first.text.endsWith("&") || goesOn.test(next.text)
      ? [{ ...first, text: `${first.text} ${next.text}` }]
      : line
  })

/** The name of a vendor: a guess with its evidence; null for none. On a receipt it stands at the top. */
export const findVendor = (given: ReadonlyArray<Line>, receipt: boolean): Guess | null => {
  const lines = receipt ? topOf(given) : given
  const segments = lines.flat()
  const votes = new Map<
    string,
    { score: number; segment: Segment; rule: string; label: string | null; value: string }
  >()
  const vote = (raw: string, score: number, segment: Segment, rule: string, label: string | null = null): void => {
    const value = nameIn(raw)
    if (value === null || isRecipient(lines, segment) || (receipt && noShop.test(raw))) return
    const key = value.toLowerCase().replace(/[\s.,]/g, "")
    const known = votes.get(key)
    if (known === undefined) votes.set(key, { score, segment, rule, label, value })
    // The same name in another place speaks for it.
    else
      votes.set(key, {
        ...(score > known.score ? { segment, rule, label, value } : known),
        score: Math.min(99, Math.max(known.score, score) + 8)
      })
  }
  const domains = segments.flatMap(({ text }) =>
    [...text.toLowerCase().matchAll(/(?:@|www\.|https?:\/\/(?:www\.)?)([a-z\d-]{3,})\.[a-z]{2,}/g)].map((match) =>
      match[1]!.replace(/[-_]/g, "")
    )
  )
  const own = domains.filter((name) => !/^(gmail|gmx|web|outlook|hotmail|yahoo|localhost|t-?online)$/.test(name))
  const vat = segments.find(({ text }) => vatIdsIn(text).length > 0)
  for (const segment of segments) {
    const { text } = segment
    const sender = senders.exec(text)
    if (sender !== null) {
      const rest = text.slice(sender[0].length).trim()
      const next = rest === "" ? below(lines, segment) : segment
      if (next !== null) vote(rest === "" ? next.text : rest, 72, next, "sender_label", sender[0])
    }
    const [piece] = text.split(separators)
    if (
      !receipt &&
      text.length < 110 &&
      text.split(separators).length >= 3 &&
      /\d{4,5}/.test(text) &&
      segment.page === 1
    ) {
      vote(piece!, 84, segment, "return_address")
    }
    if (text.length > 70 && !form.test(piece!)) continue
    const matched = form.exec(text)
    if (matched !== null) {
      const near = vat !== undefined && vat.page === segment.page && Math.abs(vat.line - segment.line) <= 6 ? 6 : 0
      const early = segment.page === 1 && segment.line < 8 ? 6 : 0
      vote(form.test(piece!) ? piece! : text, 70 + near + early, segment, "legal_form", matched[0])
    }
    const squeezed = text.toLowerCase().replace(/[^\p{L}\d]/gu, "")
    if (
      text.length < 50 &&
      own.some((name) => squeezed.startsWith(name) || (name.startsWith(squeezed) && squeezed.length > 4))
    ) {
      vote(text, 60, segment, "domain")
    }
  }
  const first = segments.find(
    ({ page, text }) =>
      page === 1 && text.length < 45 && nameIn(text) !== null && !/[:@]/.test(text) && !(receipt && noShop.test(text))
  )
  if (first !== undefined) vote(first.text, receipt ? 70 : 38, first, "first_block")
  const ranked = [...votes.values()].sort((a, b) => b.score - a.score || a.segment.line - b.segment.line)
  const [best, next] = ranked
  if (best === undefined) return null
  const from = Math.max(0, best.segment.text.indexOf(best.value))
  return {
    ...best,
    from,
    to: from + best.value.length,
    margin: best.score - (next?.score ?? 0)
  }
}

/** A name as it is written, up to its legal form; null where the text is none. */
const nameIn = (labelled: string): string | null => {
  const text = labelled.replace(senders, "").replace(nameLabel, "").trim()
  const matched = form.exec(text)
  const cut = (matched === null ? text : text.slice(0, matched.index + matched[0].length))
    .replace(/^(?:[^\p{L}\d]+)|[\s:,;-]+$/gu, "")
    .replace(/^.*\b(?:by|von|from)\s+(?=\p{Lu}[^.]*$)/u, "")
  if (cut.length < 3 || cut.length > 70 || noName.test(cut) || !/\p{L}{2}/u.test(cut)) return null
  return matched !== null && cut.length <= matched[0].length + 1 ? null : cut
}

const below = (lines: ReadonlyArray<Line>, segment: Segment): Segment | null => {
  for (const line of lines.slice(segment.line + 1, segment.line + 5)) {
    const found = line.find(({ right, x }) => x < segment.right + segment.height && right > segment.x - segment.height)
    if (found === undefined || found.page !== segment.page || found.text.startsWith("(")) continue
    if (nameLabel.test(found.text)) return line[line.indexOf(found) + 1] ?? null
    if (!noName.test(found.text)) return found
  }
  return null
}

/** True where a segment stands in the block below a label such as "Bill to", or says so itself. */
const isRecipient = (lines: ReadonlyArray<Line>, segment: Segment): boolean => {
  if (recipients.test(segment.text)) return true
  for (let up = 1; up <= 4; up++) {
    const line = lines[segment.line - up]
    const above = line?.find(({ right, x }) => Math.abs(x - segment.x) < 2 * segment.height && right > segment.x)
    if (above !== undefined && above.page === segment.page && recipients.test(above.text)) return true
  }
  return false
}
