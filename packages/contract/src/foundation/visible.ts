/** Tests texts for visible characters. */

/**
 * A letter, digit, sign or symbol that leaves a mark: Unicode has letters (U+3164) and symbols (U+2800) that are blank.
 */
const mark = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u

/** True for a text with a visible character. */
export const isVisible = (text: string): boolean => mark.test(text)
