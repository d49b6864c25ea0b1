/**
 * The packs of the chains before this one, for what a recovered chain carried over. Record 0 says which chain it
 * follows, of how many records and with which root, so a reader that trusts the one pack can verify the other.
 * Decisions 0010 and 0026.
 */
import type { Previous } from "@flyball/evidence"
import { type PackFile, verifyPackOf } from "../pack-file.ts"
import { followedChain } from "../previous-chain.ts"
import { partOfHistory } from "./part-of-history.ts"

/** A whole retired chain; or, before a range, the records of its own chain from record 0 on. */
export interface EarlierPack {
  readonly pack: PackFile
  /** Records between its first one and record 0 of the chain that is replayed; 0 for a pack of that chain itself. */
  readonly before: number
}

/** History before record 0. */
export interface Earlier {
  /** Oldest first. */
  readonly packs: ReadonlyArray<EarlierPack>
  /** Why the records before the first of them are unknown; null where there are none. */
  readonly missing: string | null
}

/** A pack of all records of a chain, as far as the chain went when it was made. */
export interface Given {
  readonly pack: PackFile
  readonly origin: string
  readonly size: number
  readonly rootHex: string
}

/**
 * Joins a checked pack that begins at record 0 with those that were given for the chains before it.
 *
 * - Fails: answers a sentence where one of them is not what it is given for.
 */
export const earlierPacks = async (pack: PackFile, given: ReadonlyArray<PackFile>): Promise<Earlier | string> => {
  const chains: Array<Given> = []
  for (const one of given) {
    const found = await wholeChain(one)
    if (typeof found === "string") return found
    chains.push(found)
  }
  const packs: Array<EarlierPack> = []
  let followed = await followedChain(pack)
  let partial: string | null = null
  // Each chain is followed once: else two that name each other would go round.
  const left = new Set(chains)
  for (let before = 0; followed !== null && followed !== "hidden" && followed.storedSize > 0;) {
    const { origin }: Previous = followed
    const found = [...left].find((one) => one.origin === origin)
    if (found === undefined) break
    left.delete(found)
    if (found.size !== followed.storedSize || found.rootHex !== followed.storedRootHex) {
      const said = await partOfHistory(found, followed)
      if (said === null) return differs(found, followed)
      // Its missing records are withheld. The chain before it can still be followed, but is of no use without it.
      partial ??= said
    }
    if (partial === null) {
      before += found.size
      packs.unshift({ pack: found.pack, before })
    }
    followed = await followedChain(found.pack)
  }
  const [spare] = left
  if (spare !== undefined)
    return (
      `Evaluations were not recomputed: ${spare.pack.name} is of ${spare.origin}, which is not a chain that ` +
      `this one follows${followed === null || followed === "hidden" ? "" : `; it follows ${followed.origin}`}.`
    )
  return { packs, missing: partial ?? missingOf(followed) }
}

const missingOf = (followed: Previous | "hidden" | null): string | null => {
  if (followed === null) return null
  if (followed === "hidden")
    return (
      "Record 0 says that this chain follows another one, and the pack does not show which: the state carried " +
      "over from there is unknown. Request another pack."
    )
  if (followed.storedSize === 0) return null
  return (
    `This chain follows ${followed.origin}. The records of the state carried over from it (agents, envelopes, sums ` +
    "of meters) are in that chain. Give its full pack, with its parts, as --previous PACK: " +
    `the operator makes it with flyball export --kind full --disclose all --chain ${followed.origin}.`
  )
}

/**
 * A pack of all records of a chain; a sentence where it is none. Which key signed it does not matter: the root is what
 * counts.
 */
const wholeChain = async (pack: PackFile): Promise<Given | string> => {
  const { checkpoint, header, origin, verdicts } = await verifyPackOf(pack, { vkeys: [] })
  if (verdicts.integrity !== "ok" || checkpoint === null || origin === null)
    return (
      `Evaluations were not recomputed: the records of ${pack.name} are not what that pack claims. Verify it ` +
      "by itself to see what is wrong."
    )
  if (header?.kind !== "full")
    return (
      `Evaluations were not recomputed: ${pack.name} does not hold its whole chain. ` +
      "Give a full pack with --previous."
    )
  return { pack, origin, size: checkpoint.size, rootHex: checkpoint.rootHex }
}

const differs = ({ origin, pack, rootHex, size }: Given, { storedRootHex, storedSize }: Previous): string =>
  `Evaluations were not recomputed: this chain follows ${origin} of ${storedSize} records with root ` +
  `${storedRootHex}, and ${pack.name} holds ${size} with root ${rootHex}. They are not the same history.`
