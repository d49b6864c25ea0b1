/** Judges a card by the keys there are: read it, screen its signatures, check those that have a key, decide. */
import type { Crypto } from "@flyball/evidence"
import { Effect } from "effect"
import {
  cardVerdict,
  type CardVerdict,
  type CheckedClaim,
  readCard,
  screen,
  type SentCard,
  type TrustedKey
} from "@flyball/rules"
import { holds } from "./verify-signature.ts"

/** Inputs for verifying a card, besides the card. */
export interface Court {
  readonly crypto: Crypto
  readonly keys: ReadonlyArray<TrustedKey>
  /** In NFC, as agents' names are. */
  readonly agentName: string
  /** Unit: milliseconds since 1970 UTC. */
  readonly nowMs: number
}

/** The verdict on a card as evidence for an agent of this name. Fails never: what is wrong is the verdict. */
export const judgeCard = (sent: SentCard, { agentName, crypto, keys, nowMs }: Court): Effect.Effect<CardVerdict> => {
  const card = readCard(sent)
  const checked = Effect.forEach(card?.claims ?? [], (claim): Effect.Effect<CheckedClaim> => {
    const { key, reason } = screen(claim, keys, agentName, nowMs)
    return reason !== null
      ? Effect.succeed({ claim, key, reason })
      : Effect.map(holds(crypto, claim, key), (isGood) => ({ claim, key, reason: isGood ? null : "signature_invalid" }))
  })
  return Effect.map(checked, (found) => cardVerdict(card, found, agentName))
}
