/**
 * Guard: one root for one size, for ever; nothing signed before the guard held it; and what was signed is what is
 * stored.
 */
import { RangeFolder, toHex } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { signProblems } from "@flyball/testkit"
import { Effect } from "effect"
import type { Checker } from "./checked.ts"

/** Holds every signature, and every checkpoint that is stored or was handed out, against the records. */
export const guardChecker: Checker = ({ ledger, ports, records, signed }) =>
  Effect.gen(function* () {
    const problems = signProblems(signed).map((problem) => `guard: ${problem}`)
    const roots = rootsOf(records.map(({ hash }) => hash))
    for (const { by, rootHex, size } of signed) {
      if (roots[size] !== rootHex)
        problems.push(
          `guard: at size ${size} the ${by} took ${rootHex}, the records have ${roots[size] ?? "no such size"}`
        )
    }
    const signedTrees = new Set(
      signed.filter(({ by }) => by === "signer").map(({ rootHex, size }) => `${size} ${rootHex}`)
    )
    const stored = (yield* ports.storage.list("checkpoints")).map(({ body }) => `${body["size"]} ${body["root"]}`)
    for (const tree of [...stored, ...ledger.checkpoints.map(({ rootHex, size }) => `${size} ${rootHex}`)]) {
      if (!signedTrees.has(tree)) problems.push(`guard: the checkpoint ${tree} was never signed`)
    }
    const held = yield* ports.guard.read
    const last = signed.findLast(({ by }) => by === "guard")
    if (held?.rootHex !== last?.rootHex || held?.size !== last?.size)
      problems.push(`guard: it holds size ${held?.size}, the last it took is ${last?.size}`)
    return problems
  })

/** The root at each size, by size. */
const rootsOf = (hashes: ReadonlyArray<Uint8Array>): ReadonlyArray<string> => {
  const folder = new RangeFolder(nodeCrypto)
  return [
    "",
    ...hashes.map((hash) => {
      folder.pushLeaf(hash)
      return toHex(folder.root()!)
    })
  ]
}
