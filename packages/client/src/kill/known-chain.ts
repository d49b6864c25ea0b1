/**
 * The chain that a client talks to: who signs for it, learned while all is well. After `flyball recover` the server
 * continues under another name with the same key. A client takes the new name where the new chain's signed genesis
 * names the old one, and a key signed it that signed for the old one. Of several recoveries that it missed each is
 * proved so, by the genesis of the retired chains.
 */
import type { ClientClock } from "../clock.ts"
import type { Caller } from "../http/caller.ts"
import { type Genesis, readGenesis } from "./genesis.ts"

/** Remembers the chain that a client talks to, and proves a successor. */
export interface KnownChain {
  /** Learns who signs for the chain of this name, where that is not known or an hour old. Never fails. */
  readonly learn: (origin: string | null) => Promise<void>
  /**
   * Asks the server to prove that the chain of this name follows the one that is known; from then on it is known.
   * Answers why it is not proved, and null where it is.
   */
  readonly follow: (origin: string) => Promise<string | null>
}

/** How long what was learned counts: keys rotate. Unit: milliseconds. */
const LEARN_EVERY_MS = 3_600_000

/** Pause between attempts that teach nothing. Unit: milliseconds. */
const LEARN_AGAIN_MS = 60_000

/** Recoveries that a client can have missed. */
const MAX_MISSED = 16

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

  /** The proved genesis of the chain that is running, or of the one of this name. */
  const ask = async (chain?: string): Promise<Genesis | null> => {
    const query = chain === undefined ? "" : `?chain=${encodeURIComponent(chain)}`
    const answer = await caller.send({ method: "GET", path: `/api/v1/chain/genesis${query}`, timeoutMs, signal })
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
    follow: async (origin) => {
      const old = known
      if (old === null) return "it was not learned in time who signs for the old one"
      const newest = await ask()
      if (newest === null || newest.origin !== origin) return "the server shows no signed first record of the new one"
      let chain = newest
      for (let missed = 0; missed < MAX_MISSED; missed++) {
        const { previousOrigin } = chain
        if (previousOrigin === null) return `${chain.origin} follows no chain`
        const before: Genesis | null = previousOrigin === old.origin ? old : await ask(previousOrigin)
        if (before === null || before.origin !== previousOrigin)
          return `the server shows no signed first record of ${previousOrigin}, which is between the two`
        if (![...chain.signers].some((key) => before.signers.has(key)))
          return `no key that signed for ${previousOrigin} signs for ${chain.origin}`
        if (before === old) {
          known = newest
          nextMs = clock.monotonicMs() + LEARN_EVERY_MS
          return null
        }
        chain = before
      }
      return `more than ${MAX_MISSED} recoveries are between the two`
    }
  }
}
