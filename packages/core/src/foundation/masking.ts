/** Masks identifying numbers in what is shown of a document. Pure. Spec: document 2 section 6, "Payload". */

/** Characters of a number that stay, at its end. */
const SHOWN = 4

/** The most characters between the pieces of one number: blanks, hyphens and dots. */
const BETWEEN = 2

/**
 * Fields whose values identify a person or an account whatever their digits say: passports, national and tax ids,
 * licences, cards and accounts. Compared without case and signs.
 */
const identifying = new RegExp(
  "passport|mrz|nationalid|nationalinsurance|nino$|ssn|socialsecurity|aadh?aa?r|^pan(number|no)?$|" +
    "(^|personal)id(number|no)$|identity(number|no|card)|idcard|personalid|tax(payer)?id|^tin$|^cpf$|curp|^nric|" +
    "^nin$|voterid|driv(er|ers|ing)licen[cs]e|cardnumber|cardno$|iban|accountn(umber|o)$"
)

/** A date, which identifies nobody: of birth, of issue, of expiry. */
const date = /^(\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]([A-Za-z]{3}|\d{1,2})[-./ ](\d{4}|\d{2}))$/

/**
 * Masks card numbers, IBANs, and the values of fields that identify by their name: each of their letters and digits but
 * the last four becomes `*`. Texts are compared in their compatibility form, so that other digits hide nothing.
 *
 * - Card: 13 to 19 digits with the check digit of Luhn. IBAN: 15 to 34 characters, remainder 1 by 97.
 * - A field by name: at least five letters and digits, three digits among them, and no date.
 */
export const maskFields = (fields: { readonly [name: string]: string }): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, maskField(name, value)]))

const maskField = (name: string, value: string): string => {
  const text = value.normalize("NFKC")
  const masked =
    identifying.test(name.toLowerCase().replace(/[^a-z0-9]/g, "")) && isIdentifier(text)
      ? hideAllBut(text)
      : hideNumbers(hideNumbers(text, /\d+/g, isCard), /[A-Za-z0-9]+/g, isIban)
  return masked === text ? value : masked
}

const isIdentifier = (text: string): boolean =>
  !date.test(text.trim()) &&
  (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) > SHOWN &&
  (text.match(/\p{N}/gu)?.length ?? 0) > 2

/** Masks each run of neighbouring pieces that together are a number, the longest from each piece on. */
const hideNumbers = (text: string, pieces: RegExp, holds: (number: string) => boolean): string => {
  const found = [...text.matchAll(pieces)].map(({ 0: piece, index }) => ({ piece, index, end: index + piece.length }))
  let masked = text
  for (let first = 0; first < found.length; first++) {
    let last = -1
    let number = ""
    for (let at = first; at < found.length && number.length <= MOST; at++) {
      if (at > first && found[at]!.index - found[at - 1]!.end > BETWEEN) break
      number += found[at]!.piece
      if (holds(number)) last = at
    }
    if (last < 0) continue
    const { index } = found[first]!
    const { end } = found[last]!
    masked = masked.slice(0, index) + hideAllBut(text.slice(index, end)) + masked.slice(end)
    first = last
  }
  return masked
}

/** Characters of the longest number: an IBAN. */
const MOST = 34

/** Masks every letter and digit but the last four, and leaves signs and blanks. */
const hideAllBut = (text: string): string => {
  const letters = [...text]
  let left = SHOWN
  for (let at = letters.length - 1; at >= 0; at--)
    if (/[\p{L}\p{N}]/u.test(letters[at]!) && left-- <= 0) letters[at] = "*"
  return letters.join("")
}

const isCard = (number: string): boolean => {
  if (!/^\d{13,19}$/.test(number)) return false
  let sum = 0
  for (let at = 0; at < number.length; at++) {
    const digit = Number(number[number.length - 1 - at]) * (at % 2 === 0 ? 1 : 2)
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}

const isIban = (number: string): boolean => {
  if (!/^[A-Za-z]{2}\d{2}[A-Za-z0-9]{11,30}$/.test(number)) return false
  const turned = number.slice(4) + number.slice(0, 4)
  let rest = 0
  for (const sign of turned) for (const digit of String(parseInt(sign, 36))) rest = (rest * 10 + Number(digit)) % 97
  return rest === 1
}
