/**
 * Whether ids of evaluations are those that derive from what was asked, without writing each of them. Spec: decision
 * 0025.
 */
import type { Crypto } from "@flyball/evidence"
import { evaluationId } from "./evaluation-id.ts"

const SCOPE = "flyball/v1 evaluation\0"
/** Bytes of a longest text: scope, tag, agent and reference. */
const ROOM = 512
const letters = "0123456789abcdefghjkmnpqrstvwxyz"
const LETTER = Uint8Array.from(letters, (letter) => letter.charCodeAt(0))
/** Signs before the digits of an id, `evl_`, and the digits. */
const PREFIX = "evl_"
const DIGITS = 26

/** What is hashed with. */
export type Hashing = Pick<Crypto, "sha256" | "sha256Into">

/** Ids of one chain's evaluations. */
export class EvaluationIds {
  readonly #tag: Uint8Array
  readonly #crypto: Hashing
  readonly #digest = new Uint8Array(32)
  readonly #text = new Uint8Array(ROOM)
  /** The beginning of that, by its length: making a view takes as long as filling it. */
  readonly #views: Array<Uint8Array | undefined> = new Array(ROOM + 1).fill(undefined)
  readonly #start: number
  /** Whose digest that is, and the id that was found to say it: the same is asked twice of each evaluation. */
  #agentId: string | null = null
  #clientRef = ""
  #id: string | null = null

  /** `originTag`: the first 4 bytes of SHA-256 of the origin. */
  constructor(originTag: Uint8Array, crypto: Hashing) {
    this.#tag = originTag
    this.#crypto = crypto
    this.#start = write(this.#text, 0, SCOPE) + originTag.length
    this.#text.set(originTag, SCOPE.length)
  }

  /**
   * The first 16 bytes of this are what the id says; valid until it is asked of others. Agent and reference are ASCII,
   * as the catalogue has them.
   */
  digest(agentId: string, clientRef: string): Uint8Array {
    if (agentId === this.#agentId && clientRef === this.#clientRef) return this.#digest
    this.#agentId = agentId
    this.#clientRef = clientRef
    this.#id = null
    const text = this.#text
    let end = write(text, this.#start, agentId)
    text[end++] = 0
    end = write(text, end, clientRef)
    this.#crypto.sha256Into((this.#views[end] ??= text.subarray(0, end)), this.#digest, 0)
    return this.#digest
  }

  /** Whether an id is the one that derives. */
  isOf(agentId: string, clientRef: string, id: string): boolean {
    const digest = this.digest(agentId, clientRef)
    if (id === this.#id) return true
    if (!says(id, digest)) return false
    this.#id = id
    return true
  }

  /** The id itself. */
  of(agentId: string, clientRef: string): string {
    return evaluationId(this.#tag, agentId, clientRef, this.#crypto.sha256)
  }
}

/** Whether an id says these bytes. */
const says = (id: string, digest: Uint8Array): boolean => {
  if (id.length !== PREFIX.length + DIGITS) return false
  // Five bits a digit, with two zero bits in front.
  let bits = 0
  let count = 2
  for (let digit = 0, byte = 0; digit < DIGITS; digit++) {
    if (count < 5) {
      bits = ((bits << 8) | digest[byte++]!) & 0xfff
      count += 8
    }
    count -= 5
    if (id.charCodeAt(PREFIX.length + digit) !== LETTER[(bits >>> count) & 31]) return false
  }
  return id.startsWith(PREFIX)
}

const write = (bytes: Uint8Array, at: number, text: string): number => {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}
