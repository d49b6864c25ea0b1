/**
 * References so plain that one reads them and believes them: RFC 8785 by sorting and concatenating, RFC 6962 by its
 * recursive definition.
 * They share no code with packages/evidence.
 */
import { createHash } from "node:crypto"

const escapeText = (text: string): string => {
  let out = ""
  for (const unit of text.split("")) {
    const code = unit.charCodeAt(0)
    if (unit === `"` || unit === "\\") out += `\\${unit}`
    else if (code === 8) out += "\\b"
    else if (code === 9) out += "\\t"
    else if (code === 10) out += "\\n"
    else if (code === 12) out += "\\f"
    else if (code === 13) out += "\\r"
    else if (code < 32) out += `\\u${code.toString(16).padStart(4, "0")}`
    else out += unit
  }
  return `"${out}"`
}

/** The canonical form of a JSON value. */
export const naiveCanonical = (value: unknown): string => {
  if (value === null) return "null"
  if (typeof value === "boolean") return value ? "true" : "false"
  if (typeof value === "number") return String(Object.is(value, -0) ? 0 : value)
  if (typeof value === "string") return escapeText(value)
  if (Array.isArray(value)) return `[${value.map(naiveCanonical).join(",")}]`
  const names = Object.keys(value as object).sort((a, b) => {
    for (let i = 0; i < Math.min(a.length, b.length); i++)
      if (a.charCodeAt(i) !== b.charCodeAt(i)) return a.charCodeAt(i) - b.charCodeAt(i)
    return a.length - b.length
  })
  const member = (name: string): string =>
    `${escapeText(name)}:${naiveCanonical((value as Record<string, unknown>)[name])}`
  return `{${names.map(member).join(",")}}`
}

const sha256 = (...chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const hash = createHash("sha256")
  for (const chunk of chunks) hash.update(chunk)
  return Uint8Array.from(hash.digest())
}

/** A leaf's hash. */
export const naiveLeaf = (bytes: Uint8Array): Uint8Array => sha256(Uint8Array.of(0), bytes)

const largestPowerBelow = (n: number): number => {
  let power = 1
  while (power * 2 < n) power *= 2
  return power
}

/** RFC 6962 2.1, MTH. */
export const naiveRoot = (leaves: ReadonlyArray<Uint8Array>): Uint8Array => {
  if (leaves.length === 0) return sha256()
  if (leaves.length === 1) return leaves[0]!
  const k = largestPowerBelow(leaves.length)
  return sha256(Uint8Array.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)))
}

/** RFC 6962 2.1.1, PATH. */
export const naivePath = (m: number, leaves: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  if (leaves.length <= 1) return []
  const k = largestPowerBelow(leaves.length)
  return m < k
    ? [...naivePath(m, leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
    : [...naivePath(m - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))]
}

const subProof = (m: number, leaves: ReadonlyArray<Uint8Array>, whole: boolean): ReadonlyArray<Uint8Array> => {
  if (m === leaves.length) return whole ? [] : [naiveRoot(leaves)]
  const k = largestPowerBelow(leaves.length)
  return m <= k
    ? [...subProof(m, leaves.slice(0, k), whole), naiveRoot(leaves.slice(k))]
    : [...subProof(m - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))]
}

/** RFC 6962 2.1.2, PROOF. */
export const naiveConsistency = (m: number, leaves: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> =>
  m === 0 ? [] : subProof(m, leaves, true)
