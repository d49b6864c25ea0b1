/** Reads the input of attaching an identity: a signed card or a declaration, never both. Pure. */
import { detailItem, type DetailType, type IdentityIn, InvalidInput } from "@flyball/contract"
import { canonicalBytes, type JsonObject } from "@flyball/evidence"
import { Result } from "effect"
import { cardSources, type KeyChoice, sentBytes, type SentCard } from "@flyball/rules"

/** A card to be verified, or an identity that is only declared. */
export type Attached =
  | { readonly kind: "card"; readonly sent: SentCard }
  | { readonly kind: "declared"; readonly source: string; readonly ref: string; readonly withdrawsVerified: boolean }

/**
 * Bytes of a key of the trust store: Ed25519, and the point of P-256. No entry has others, and a verdict on what only
 * resembles an unknown key would be recorded.
 */
const KEY_BYTES: ReadonlySet<number> = new Set([32, 65])

/**
 * Reads an `IdentityIn`.
 *
 * - Fails: `InvalidInput`: `missing` for neither card nor declaration, half of a declaration, or a signature without a
 *   key; `value_error` for both, for two keys, for bytes that are no key,
 *   a key without a signature, a declaration that calls itself a signed card, and a card with `withdraw_verified`.
 * - Spec: document 1 section 2, `IdentityIn`; api "agents and registry".
 */
export const readIdentity = (input: IdentityIn): Result.Result<Attached, InvalidInput> => {
  const { declared_ref: ref, declared_source: source, signed_card: card } = input
  const withdrawsVerified = input.withdraw_verified === true
  const isDeclared = (source ?? null) !== null || (ref ?? null) !== null
  if (card !== undefined && card !== null) {
    if (withdrawsVerified && !isDeclared) {
      return refused(
        ["withdraw_verified"],
        "value_error",
        "Only a declaration can have this. A verified card replaces any identity"
      )
    }
    return isDeclared
      ? refused(["signed_card"], "value_error", "Send a signed card or a declared identity, not both")
      : Result.map(readSent(card), (sent) => ({ kind: "card" as const, sent }))
  }
  if (!isDeclared)
    return refused(["signed_card"], "missing", "Field required: a signed card, or declared_source and declared_ref")
  if (source === undefined || source === null) return refused(["declared_source"], "missing", "Field required")
  if (ref === undefined || ref === null) return refused(["declared_ref"], "missing", "Field required")
  if ((cardSources as ReadonlyArray<string>).includes(source))
    return refused(
      ["declared_source"],
      "value_error",
      "A signed card is sent as signed_card; a declaration cannot say that there is one"
    )
  return Result.succeed({ kind: "declared", source, ref, withdrawsVerified })
}

/** The bytes of a card: those that its base64 holds, or the RFC 8785 form of an object. */
const cardBytes = (card: NonNullable<IdentityIn["signed_card"]>["card"]): Uint8Array =>
  typeof card === "string" ? sentBytes(card) : canonicalBytes(card as JsonObject)

const readSent = ({
  card,
  key_id: keyId,
  public_key: publicKey,
  signature
}: NonNullable<IdentityIn["signed_card"]>): Result.Result<SentCard, InvalidInput> => {
  const byId = keyId === undefined || keyId === null ? null : { keyId }
  const byKey = publicKey === undefined || publicKey === null ? null : { publicKey: sentBytes(publicKey) }
  const given: KeyChoice | null = byId ?? byKey
  if (byId !== null && byKey !== null)
    return refused(["signed_card", "public_key"], "value_error", "Send key_id or public_key, not both")
  if (byKey !== null && !KEY_BYTES.has(byKey.publicKey.length)) {
    return refused(
      ["signed_card", "public_key"],
      "value_error",
      `Expected the 32 bytes of an Ed25519 key without a wrapping, not ${byKey.publicKey.length} bytes`
    )
  }
  if (signature === undefined || signature === null) {
    return given === null
      ? Result.succeed({ card: cardBytes(card), detached: null })
      : refused(
          ["signed_card", "signature"],
          "missing",
          "Field required with a key. A card that carries its own signatures names its keys there"
        )
  }
  return given === null
    ? refused(["signed_card", "key_id"], "missing", "Field required with a signature: key_id, or public_key")
    : Result.succeed({ card: cardBytes(card), detached: { signature: sentBytes(signature), key: given } })
}

const refused = (path: ReadonlyArray<string>, type: DetailType, msg: string): Result.Result<never, InvalidInput> =>
  Result.fail(new InvalidInput({ detail: [detailItem(["body", ...path], type, msg)] }))
