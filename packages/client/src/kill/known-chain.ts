/**
 * The chain that a client talks to: who signs for it, learned while all is well. After `flyball recover` the server
 * goes on under another name with the same key. A client takes the new name where the new chain's signed genesis names
 * the old one, and a key signed it that signed for the old one.
 */
import type { ClientClock } from "../clock.ts"
import type { Caller } from "../http/caller.ts"
import { type Genesis, readGenesis } from "./genesis.ts"

/** Remembers the chain that a client talks to, and proves a successor. */
export interface KnownChain {
  /** Learns who signs for the chain of this name, where that is not known or an hour old. Never fails. */
  readonly learn: (origin: string | null) => Promise<void>
  /** Whether the server proves that the chain of this name follows the one that is known; from then on it is known. */
  readonly isFollowedBy: (origin: string) => Promise<boolean>
}

/** How long what was learned counts: keys rotate. Unit: milliseconds. */
const LEARN_EVERY_MS = 3_600_000

/** Pause between attempts that teach nothing. Unit: milliseconds. */
const LEARN_AGAIN_MS = 60_000

/** Makes a {@link KnownChain} that knows nothing at first. Units: milliseconds. */
export const knownChain = ({
  caller,
  clock,
  signal,
  timeoutMs
}: {
  readonly caller: Caller
  readonly clock: ClientClock
  readonly timeoutMs: number
  readonly signal: AbortSignal
}): KnownChain => {
  let known: Genesis | null = null
  let nextMs = Number.NEGATIVE_INFINITY

  const ask = async (): Promise<Genesis | null> => {
    const answer = await caller.send({ method: "GET", path: "/api/v1/chain/genesis", timeoutMs, signal })
    return answer.kind === "answer" && answer.status === 200 ? readGenesis(answer.body) : null
  }

  return {
    learn: async (origin) => {
      if (clock.monotonicMs() < nextMs) return
      nextMs = clock.monotonicMs() + LEARN_AGAIN_MS
      const found = await ask()
      // Another chain is never learned in passing: it has to follow this one.
      const isOurs = found !== null && found.origin === origin && (known === null || known.origin === origin)
      if (!isOurs) return
      known = found
      nextMs = clock.monotonicMs() + LEARN_EVERY_MS
    },
    isFollowedBy: async (origin) => {
      if (known === null) return false
      const found = await ask()
      if (found === null || found.origin !== origin || found.previousOrigin !== known.origin) return false
      const before = known.signers
      if (![...found.signers].some((key) => before.has(key))) return false
      known = found
      nextMs = clock.monotonicMs() + LEARN_EVERY_MS
      return true
    }
  }
}
