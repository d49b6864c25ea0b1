/** Which faults a script is walked past: all that it can meet, and a sample of two in one walk. */
import { memoryStorage } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { type Fault, faultKinds, noFaults, pickOf, seededSource } from "@flyball/testkit"
import { type ScriptName, walk, type Walked } from "./walk.ts"

/** Every fault that walks like this one meet when nothing else goes wrong: each call, in each kind. */
export const faultsOf = ({ board }: Walked): ReadonlyArray<Fault> =>
  [...board.calls].flatMap(([point, calls]) =>
    Array.from({ length: calls }, (_, index) =>
      faultKinds.map((kind): Fault => ({ point, call: index + 1, kind }))
    ).flat()
  )

/** All single faults of a script. */
export const singleFaults = async (script: ScriptName): Promise<ReadonlyArray<Fault>> =>
  faultsOf(await walk(memoryStorage({ crypto: nodeCrypto }), noFaults, script))

/** Calls that change something, or sign: of these no fault is left out. */
const writing: ReadonlySet<string> = new Set([
  "storage.commit",
  "storage.lease",
  "storage.releaseLease",
  "storage.limits.take",
  "storage.outbox.claim",
  "storage.outbox.forget",
  "guard.advance",
  "signer.sign"
])

/**
 * Every fault at a call that writes, those at the first call of every method, and `count` of the others, chosen by the
 * seed.
 */
export const thinnedOut = (faults: ReadonlyArray<Fault>, count: number, seed: number): ReadonlyArray<Fault> => {
  const pick = pickOf(seededSource(`reads ${seed}`))
  const isKept = ({ call, point }: Fault): boolean => call === 1 || writing.has(point)
  const others = faults.filter((fault) => !isKept(fault))
  const chosen = new Set<Fault>()
  while (chosen.size < Math.min(count, others.length)) chosen.add(others[pick(others.length)]!)
  return faults.filter((fault) => isKept(fault) || chosen.has(fault))
}

/** `count` pairs of different faults, chosen by the seed. Of all there are hundreds of thousands. */
export const pairsOfFaults = (
  faults: ReadonlyArray<Fault>,
  count: number,
  seed: number
): ReadonlyArray<readonly [Fault, Fault]> => {
  const pick = pickOf(seededSource(`pairs of faults ${seed}`))
  return Array.from({ length: count }, () => {
    const first = pick(faults.length)
    return [faults[first]!, faults[(first + 1 + pick(faults.length - 1)) % faults.length]!] as const
  })
}

/** A fault in words. */
export const saidOf = ({ call, kind, point }: Fault): string => `${kind} at call ${call} of ${point}`
