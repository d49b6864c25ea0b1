/** Text of any length that reads, and packs, like what agents send: the words of the starter traces in random order. */
import { readFileSync } from "node:fs"
import { below, type Random } from "./random.ts"

/** Characters of text that pieces are cut from: more than a compressor's window. */
const POOL = 8 * 1024 * 1024
/** Of every so many words one is not ASCII, in the pool for lines that are not. */
const FOREIGN_EACH = 12
const foreign = ["señor", "Grüße", "naïve", "– so", "café", "东京", "cinquième", "“yes”"]

/** Cuts pieces. */
export interface Texts {
  /** A text of so many characters. */
  readonly cut: (random: Random, length: number, ascii: boolean) => string
}

/** The texts of a seeded generator. */
export const makeTexts = (random: Random): Texts => {
  const words = readFileSync(new URL("../../fixtures/traces/starter.ndjson", import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const { args, result } = JSON.parse(line) as { readonly args?: unknown; readonly result?: unknown }
      return `${JSON.stringify(args)} ${typeof result === "string" ? result : JSON.stringify(result ?? "")}`.split(" ")
    })
    .filter((word) => /^[\x21-\x7e]+$/.test(word))
  const poolOf = (each: number): string => {
    const pool: Array<string> = []
    for (let length = 0, count = 0; length < POOL; count++) {
      const word =
        count % each === each - 1 ? foreign[below(random, foreign.length)]! : words[below(random, words.length)]!
      pool.push(word)
      length += word.length + 1
    }
    return Buffer.from(pool.join(" "), "utf16le").toString("utf16le")
  }
  const ascii = poolOf(Number.MAX_SAFE_INTEGER)
  const other = poolOf(FOREIGN_EACH)
  return {
    cut: (random, length, isAscii) => {
      const pool = isAscii ? ascii : other
      const at = below(random, pool.length - length)
      return pool.slice(at, at + length)
    }
  }
}
