/** The grammar of names that others gave: of tools, tool servers, models and actions. Spec: format 1 section 8. */

/**
 * Ranges of code points that a name never has: controls, surrogates, private use, noncharacters, separators, and what
 * is invisible or steers direction (the general category Cf and the default ignorable code points of Unicode 16).
 *
 * A fixed list, since a record is judged alike by every engine, whatever its version of Unicode. An unassigned code
 * point counts as visible.
 */
const unfit =
  "\\0-\\x20\\x7f-\\xa0\\xad\\u034f\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u115f\\u1160\\u1680" +
  "\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ud800-\\uf8ff" +
  "\\ufdd0-\\ufdef\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\uffff\\u{110bd}\\u{110cd}\\u{13430}-\\u{1343f}" +
  "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\u{f0000}-\\u{10ffff}"

const form = new RegExp(`^[^${unfit}]+(?: [^${unfit}]+)*$`, "u")

/**
 * True for a name of 1 to `max` code points: visible characters of any script, with single blanks between them. Names
 * are in NFC where they enter, which is not part of this form.
 */
export const isForeignName = (text: string, max: number): boolean => {
  if (text.length > 2 * max || (text.length > max && [...text].length > max)) return false
  return form.test(text)
}

/** True for such a name in the form NFC, as writers and envelopes take it. */
export const isNewForeignName = (text: string, max: number): boolean =>
  isForeignName(text, max) && text.normalize("NFC") === text
