/** Lists retired chains, and checks them against the statements of the next chain. */
import { type Crypto, type Previous, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { EvidenceCrypto } from "../foundation/crypto.ts"
import type { ChainFinding } from "./check/findings.ts"
import { readChainKeys } from "./keys/chain-keys.ts"
import { readStoredGenesis } from "./open.ts"
import { storedTree } from "./check/tree.ts"
import { verifyRange } from "./check/verify.ts"
import { retirementOf, type StorageChoice } from "../storage/choice.ts"
import { type ReadFault, Storage, type StorageApi } from "../storage/port.ts"
import { RetiredStores } from "../storage/retirement.ts"
import { readPrevious } from "./read-previous.ts"
import { withRetired } from "./with-retired.ts"

/** A retired chain. Spec: decision 0010. */
export interface RetiredChain {
  readonly origin: string
  /** Records that its store holds. */
  readonly size: number
  /** Opens for reading only. */
  readonly storage: StorageChoice
}

/** Result of recomputing a retired chain. Spec: decision 0010. */
export interface RetiredCheck {
  readonly origin: string
  readonly checked: number
  readonly findings: ReadonlyArray<ChainFinding>
}

/** Reads the retired chain in each of these stores, oldest first. One that holds no chain is left out. */
export const retiredChainsOf = (
  stores: ReadonlyArray<StorageChoice>
): Effect.Effect<ReadonlyArray<RetiredChain>, ReadFault> =>
  Effect.map(
    Effect.forEach(stores, (store) =>
      withRetired(
        store,
        Effect.fnUntraced(function* (storage) {
          const genesis = yield* readStoredGenesis(storage)
          return genesis === null
            ? []
            : [{ origin: genesis.origin, size: ((yield* storage.head)?.seq ?? -1) + 1, storage: store }]
        })
      )
    ),
    (chains) => chains.flat()
  )

/** The retired chains beside the open store, oldest first. Spec: decision 0010. */
export const retiredChains: Effect.Effect<ReadonlyArray<RetiredChain>, ReadFault> = Effect.flatMap(
  Effect.flatten(RetiredStores),
  retiredChainsOf
)

/** The retired chains beside a store, oldest first, without opening it. Spec: decision 0010. */
export const retiredChainsBeside = (storage: StorageChoice): Effect.Effect<ReadonlyArray<RetiredChain>, ReadFault> => {
  const retirement = retirementOf(storage)
  return retirement === null ? Effect.succeed([]) : Effect.flatMap(retirement.retired, retiredChainsOf)
}

/**
 * Recomputes every retired chain from its stored bytes, and compares it with the statement of the next chain, oldest
 * first.
 *
 * A chain that was retired because its records had been changed has findings, which is why it was retired. Spec:
 * decision 0010.
 */
export const checkRetired: Effect.Effect<ReadonlyArray<RetiredCheck>, ReadFault, Storage> = Effect.gen(function* () {
  const crypto = yield* EvidenceCrypto
  const current = yield* Storage
  const chains = yield* retiredChains
  const recorded = [
    ...(yield* Effect.forEach(chains.slice(1), ({ storage }) =>
      withRetired(storage, (open) => readPrevious(open, crypto))
    )),
    yield* readPrevious(current, crypto)
  ]
  const checks = yield* Effect.forEach(chains, (chain) =>
    withRetired(chain.storage, (storage) =>
      checkChain(storage, crypto, chain, recorded.find((previous) => previous?.origin === chain.origin) ?? null)
    )
  )
  const missing = recorded.filter(
    (previous) =>
      previous !== null && previous.storedSize > 0 && !chains.some(({ origin }) => origin === previous.origin)
  ) as ReadonlyArray<Previous>
  return [...missing.map(lost), ...checks]
})

const checkChain = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  { origin, size }: RetiredChain,
  claimed: Previous | null
): Effect.fn.Return<RetiredCheck, ReadFault> {
  const { keys } = yield* readChainKeys(storage, crypto)
  const { checked, findings } = yield* verifyRange(storage, crypto, { origin, keys }, 0, size - 1)
  const found = `${size} records with root ${toHex(yield* storedTree(storage, crypto).rootAt(size))}`
  if (claimed === null)
    findings.add({
      code: "E_ORIGIN",
      seq: null,
      expected: "a chain that the next one names in its record 0",
      found: origin
    })
  else {
    const expected = `${claimed.storedSize} records with root ${claimed.storedRootHex}`
    if (found !== expected)
      findings.add({ code: "E_ROOT", seq: null, expected: `${expected}, as record 0 of the next chain says`, found })
  }
  return { origin, checked, findings: findings.listed }
})

const lost = ({ origin, storedSize }: Previous): RetiredCheck => ({
  origin,
  checked: 0,
  findings: [
    {
      code: "E_COUNT",
      seq: null,
      expected: `the ${storedSize} retired records`,
      found: "no such chain beside the store"
    }
  ]
})
