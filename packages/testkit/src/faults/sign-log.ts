/** Log of the guard's advances and the signer's signatures, kept outside of both, to be judged afterwards. */
import { Guard, type GuardApi, Signer, type SignerApi, type SigningKey } from "@flyball/core"
import { fromUtf8, parseCheckpoint, toHex } from "@flyball/evidence"
import { Effect } from "effect"

/**
 * How the name ends under which the end of a pack is signed: it has the shape of a checkpoint, and is none. Spec:
 * chain-format section 5, line N.
 */
const PACK_END = "/evidence-pack/v1"

/** One line of the log: a state that the guard took, or a checkpoint that the signer signed. */
export interface SignEntry {
  readonly by: "guard" | "signer"
  readonly origin: string
  readonly size: number
  readonly rootHex: string
}

/**
 * Everything that was guarded and signed, in order. Put it under the faults: it must see what happened, also where the
 * answer is lost.
 */
export class SignLog {
  readonly entries: Array<SignEntry> = []

  /** The guard, with a line for each state it moves to. */
  guard(guard: GuardApi): GuardApi {
    return Guard.of({
      ...guard,
      advance: (from, to) =>
        Effect.tap(guard.advance(from, to), (moved) =>
          Effect.sync(() => (moved ? void this.entries.push({ by: "guard", ...to }) : undefined))
        )
    })
  }

  /** The signer, with a line for each checkpoint it signs, by whichever key. The end of a pack leaves none. */
  signer(signer: SignerApi): SignerApi {
    const { rotation } = signer
    return Signer.of({
      ...signer,
      sign: this.#key(signer).sign,
      ...(rotation === undefined
        ? {}
        : {
            rotation: {
              ...rotation,
              keys: Effect.map(rotation.keys, ({ current, next }) => ({
                current: this.#key(current),
                next: next === null ? null : this.#key(next)
              }))
            }
          })
    })
  }

  #key(key: SigningKey): SigningKey {
    return {
      publicKey: key.publicKey,
      sign: (message) =>
        Effect.tap(key.sign(message), () =>
          Effect.sync(() => {
            const read = parseCheckpoint(fromUtf8(message) ?? "")
            if (!read.ok || read.checkpoint.origin.endsWith(PACK_END)) return
            const { origin, root, size } = read.checkpoint
            this.entries.push({ by: "signer", origin, size, rootHex: toHex(root) })
          })
        )
    }
  }
}

/** Finds contradictions in a log of signatures; empty when there are none. */
export const signProblems = (entries: ReadonlyArray<SignEntry>): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const roots = new Map<string, string>()
  const guarded = new Set<string>()
  let last = 0
  for (const { by, origin, rootHex, size } of entries) {
    const tree = `${origin} at size ${size}`
    const known = roots.get(tree)
    if (known !== undefined && known !== rootHex)
      problems.push(`${tree}: the ${by} took the root ${rootHex} after ${known}`)
    roots.set(tree, known ?? rootHex)
    if (by === "guard") {
      guarded.add(`${tree} ${rootHex}`)
      if (size < last) problems.push(`${tree}: the guard went back from size ${last}`)
      last = Math.max(last, size)
    } else if (!guarded.has(`${tree} ${rootHex}`)) {
      problems.push(`${tree}: the root ${rootHex} was signed before the guard held it`)
    }
  }
  return problems
}
