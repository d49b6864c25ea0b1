/** Short ASCII names out of bytes, each made a text once: a pack says the same few names millions of times. */
export class KnownNames {
  /** The name of the last look-up; it is checked first. */
  #last = ""
  readonly #names: Array<string> = []

  /** The name at [start, end). */
  at(bytes: Uint8Array, start: number, end: number): string {
    if (isName(this.#last, bytes, start, end)) return this.#last
    for (const name of this.#names) if (isName(name, bytes, start, end)) return (this.#last = name)
    const name = latin1.decode(bytes.subarray(start, end))
    // Names are few, but a hostile pack could have a new one in each line.
    if (this.#names.length < MAX_KEPT) this.#names.push(name)
    return (this.#last = name)
  }
}

const isName = (name: string, bytes: Uint8Array, start: number, end: number): boolean => {
  if (name.length !== end - start) return false
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) !== bytes[start + i]) return false
  return true
}

const MAX_KEPT = 64
const latin1 = new TextDecoder("latin1")
