/** Numbers with check digits: IBAN (ISO 13616), cards (Luhn), tax numbers by country, machine-readable zones. */

const ibanLengths: { readonly [country: string]: number } = {
  AT: 20,
  BE: 16,
  BG: 22,
  CH: 21,
  CY: 28,
  CZ: 24,
  DE: 22,
  DK: 18,
  EE: 20,
  ES: 24,
  FI: 18,
  FR: 27,
  GB: 22,
  GR: 27,
  HR: 21,
  HU: 28,
  IE: 22,
  IS: 26,
  IT: 27,
  LI: 21,
  LT: 20,
  LU: 20,
  LV: 21,
  MC: 27,
  MT: 31,
  NL: 18,
  NO: 15,
  PL: 28,
  PT: 25,
  RO: 24,
  SE: 24,
  SI: 19,
  SK: 24
}

/** IBANs in a text, without their spaces; their check digits may be wrong. */
export const ibansIn = (
  text: string
): ReadonlyArray<{ readonly value: string; readonly from: number; readonly to: number }> =>
  [...text.matchAll(/\b([A-Z]{2})\d{2}(?: ?[A-Z0-9]){11,30}/g)].flatMap((match) => {
    const length = ibanLengths[match[1]!]
    const value = match[0].replaceAll(" ", "").slice(0, length)
    return length === undefined || value.length < length
      ? []
      : [{ value, from: match.index, to: match.index + match[0].length }]
  })

/** True for right check digits of an IBAN: remainder 1 modulo 97. */
export const isIban = (iban: string): boolean => {
  let rest = 0
  for (const letter of iban.slice(4) + iban.slice(0, 4)) {
    for (const digit of Number.parseInt(letter, 36).toString()) rest = (rest * 10 + Number(digit)) % 97
  }
  return rest === 1
}

const vatForms = new RegExp(
  `(?<![A-Z0-9])(?:${[
    String.raw`DE ?\d{3} ?\d{3} ?\d{3}`,
    String.raw`ATU ?\d{8}`,
    String.raw`NL ?\d{3}\.?\d{3}\.?\d{3}\.? ?B\.?\d{2}`,
    String.raw`FR ?[0-9A-HJ-NP-Z]{2}(?: ?\d){9}`,
    String.raw`BE ?[01]?\d{3}\.? ?\d{3}\.? ?\d{3}`,
    String.raw`IT ?\d{11}`,
    String.raw`ES ?[A-Z]\d{7}[A-Z0-9]`,
    String.raw`GB ?\d{3} ?\d{4} ?\d{2}`,
    String.raw`LU ?\d{8}`,
    String.raw`PL ?\d{10}`,
    String.raw`DK ?(?:\d{2} ?){4}`,
    String.raw`SE ?\d{12}`,
    String.raw`FI ?\d{8}`,
    String.raw`IE ?\d[0-9A-Z]\d{5}[A-Z]{1,2}`,
    String.raw`PT ?\d{9}`,
    String.raw`CZ ?\d{8,10}`,
    String.raw`CHE-?\d{3}\.\d{3}\.\d{3}`
  ].join("|")})(?![A-Z0-9])`,
  "g"
)

/** VAT ids in a text, without spaces and points. */
export const vatIdsIn = (
  text: string
): ReadonlyArray<{ readonly value: string; readonly from: number; readonly to: number }> =>
  [...text.matchAll(vatForms)].map((match) => ({
    value: match[0].replace(/[ .-]/g, ""),
    from: match.index,
    to: match.index + match[0].length
  }))
