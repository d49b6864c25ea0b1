/** The reading ends here: a line that cannot be read. Caught by the verifier, which makes a finding of it. */
export class Unreadable extends Error {
  override readonly name = "Unreadable"
  readonly code: "E_FORMAT" | "E_VERSION" | "E_LIMIT"
  readonly expected: string
  readonly found: string

  constructor(code: "E_FORMAT" | "E_VERSION" | "E_LIMIT", expected: string, found: string) {
    super(`${code}: expected ${expected}, found ${found}`)
    this.code = code
    this.expected = expected
    this.found = found
  }
}
