/**
 * Letters beyond ASCII that forms read. They are part of each form's version: they come from no
 * engine's table of Unicode, so service, client and verifier read alike for ever. Spec: `envelope/1` section 16.
 */

/** First and last code point of each range, in hexadecimal. */
const RANGES =
  "C0-D6 D8-F6 F8-131 134-13E 141-148 14A-17E 180-1BA 1CD-1F0 1F4-24F 386 388-38A 38C 38E-3A1 3A3-3CE 400-481 " +
  "48A-52F 531-556 561-586 5D0-5EA 620-63A 641-64A 10D0-10F0 1E00-1E99 1EA0-1EF9 3041-3096 30A1-30FA 30FC " +
  "4E00-9FFF AC00-D7A3"

const letters = new Uint8Array(0x10000)
for (const range of RANGES.split(" ")) {
  const [first, last = first] = range.split("-").map((end) => Number.parseInt(end, 16))
  letters.fill(1, first, last! + 1)
}

/** True for a code unit of a letter beyond ASCII that forms read. All of them are in the basic plane. */
export const isLetter = (unit: number): boolean => letters[unit] === 1

/** The signs of ASCII that a form reads: of each code, whether it is one. */
export const signsOf = (ascii: string): Uint8Array =>
  Uint8Array.from({ length: 128 }, (_, code) => Number(ascii.includes(String.fromCharCode(code))))

/** True when a text has only these signs of ASCII and letters. Then it has no surrogate, and is in the form NFC. */
export const hasOnly = (text: string, ascii: Uint8Array): boolean => {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 128 ? ascii[unit] === 0 : letters[unit] === 0) return false
  }
  return true
}

/** Letters that stand for any text in examples: those that read well first. Digits count as letters here. */
export function* fillers(): Generator<string> {
  yield* "xyzabcdefghijklmnopqrstuvw0123456789"
  for (let unit = 0; unit < letters.length; unit++) if (letters[unit] === 1) yield String.fromCharCode(unit)
}
