/** Problems of an envelope, as values. */

/**
 * Codes that reading and compiling give; analysis has more.
 *
 * `E100`: a name, unit or outcome that does not exist. `E103`: an id twice, or a reserved one. `E105`: a constant
 * outside its domain, or a sum that could leave
 * the integers. `E106`: a meter without a window, or a derived signal without a version. `E109`: another language.
 * `E112`: a value of `tool` without an effect class.
 * `E113`: not of the form of the language. `E114`: more boxes than a rule may have.
 */
export type ReadingCode = "E100" | "E103" | "E105" | "E106" | "E109" | "E112" | "E113" | "E114"

/** One problem. Spec: `envelope/1` section 14. */
export interface Finding<Code extends string = ReadingCode> {
  readonly code: Code
  /** Where, as a JSON pointer into the envelope. */
  readonly path: string
  /** States what was expected, what was received, what to do. */
  readonly message: string
  /**
   * An input that shows it, of E112 alone: a text with another of these codes is no envelope that an input could be
   * evaluated under.
   */
  readonly example?: { readonly tool?: string }
}
