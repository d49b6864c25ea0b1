/** Parts that are given as text. */
import { canonicalize, utf8 } from "@flyball/evidence"
import type { PartDraft } from "./port.ts"

/**
 * A part whose bytes are made on first use. A store that packs what it writes takes the text: an array for each part
 * costs more than all that is written in it.
 */
export class TextPart implements PartDraft {
  readonly name: string
  readonly text: string

  /** The text is well-formed. */
  constructor(name: string, text: string) {
    this.name = name
    this.text = text
  }

  get bytes(): Uint8Array {
    return utf8(this.text)
  }
}

/**
 * A part that holds a value in its RFC 8785 form.
 *
 * - Fails: throws `NotCanonical` for what is no JSON.
 */
export const canonicalPart = (name: string, value: unknown): PartDraft => new TextPart(name, canonicalize(value))
