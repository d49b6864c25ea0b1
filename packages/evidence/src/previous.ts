/**
 * Reads and writes the part `previous` of record 0 of a recovered chain, which describes the chain before it. Spec: the
 * catalogue's row of `chain.genesis`.
 */
import { fromUtf8 } from "./bytes.ts"
import { isOrigin } from "./checkpoint/checkpoint.ts"
import { canonicalBytes } from "./json/canonical.ts"
import { checkForm } from "./json/form.ts"

/** The chain that a recovered one follows. Spec: format 1 section 8, `chain.genesis`; decision 0010. */
export interface Previous {
  readonly origin: string
  /** The newest signed note that its store held; null when it held none. */
  readonly checkpoint: string | null
  /** Records that were signed for, by the guard; null when the guard was lost, so that nobody knows. */
  readonly signedSize: number | null
  /** 64 lower-case hex digits; null with `signedSize`. */
  readonly signedRootHex: string | null
  /** Records that its store held when it was retired. */
  readonly storedSize: number
  /** Root over them, 64 lower-case hex digits. */
  readonly storedRootHex: string
}

/**
 * Name of the part of record 0 that names the chain before. It is never erased, and every pack with its record
 * discloses it.
 */
export const PREVIOUS = "previous"

/** Name of the part of record 0 with the person's reason: free text, so it can be withheld and erased. */
export const REASON = "reason"

/** The bytes of the part `previous`. Spec: format 1 section 8, `chain.genesis`; decision 0010. */
export const previousBytes = ({
  checkpoint,
  origin,
  signedRootHex,
  signedSize,
  storedRootHex,
  storedSize
}: Previous): Uint8Array =>
  canonicalBytes({
    checkpoint,
    origin,
    signed_root: signedRootHex === null ? null : digest(signedRootHex),
    signed_size: signedSize,
    stored_root: digest(storedRootHex),
    stored_size: storedSize
  })

/**
 * Reads the part `previous`; null if it has another form, or is not canonical JSON. Spec: format 1 section 6.1, "The
 * chain before"; decision 0010.
 */
export const parsePrevious = (bytes: Uint8Array): Previous | null => {
  const value = parsed(bytes)
  if (value === null || Object.keys(value).sort().join() !== MEMBERS) return null
  const { checkpoint, origin, signed_root, signed_size, stored_root, stored_size } = value
  const storedRootHex = hexOf(stored_root)
  const signedRootHex = hexOf(signed_root)
  if (typeof origin !== "string" || !isOrigin(origin) || storedRootHex === null || !isSize(stored_size)) return null
  if (checkpoint !== null && typeof checkpoint !== "string") return null
  if (signed_size === null && signed_root === null)
    return { origin, checkpoint, signedSize: null, signedRootHex: null, storedSize: stored_size, storedRootHex }
  return isSize(signed_size) && signedRootHex !== null
    ? { origin, checkpoint, signedSize: signed_size, signedRootHex, storedSize: stored_size, storedRootHex }
    : null
}

const MEMBERS = "checkpoint,origin,signed_root,signed_size,stored_root,stored_size"

const digest = (hex: string): string => `sha256:${hex}`

const hexOf = (value: unknown): string | null =>
  typeof value === "string" ? (/^sha256:([0-9a-f]{64})$/.exec(value)?.[1] ?? null) : null

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const parsed = (bytes: Uint8Array): { readonly [name: string]: unknown } | null => {
  // Another form can say one thing to one reader and another to the next, as where a name stands twice.
  if (checkForm(bytes) !== null) return null
  try {
    const value: unknown = JSON.parse(fromUtf8(bytes) ?? "")
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as { readonly [name: string]: unknown })
      : null
  } catch {
    return null
  }
}
