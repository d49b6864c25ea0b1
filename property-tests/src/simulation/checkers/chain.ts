/** Chain: every record, part, tile and checkpoint holds against its bytes, and the chain can be opened. */
import { Chain, EvidenceCrypto, Guard, governorLayer, type Replay, Signer } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { Effect, Layer } from "effect"
import type { Checked, Checker } from "./checked.ts"

/** Says what chain.verify finds over the stored bytes. */
export const chainChecker: Checker = (world) =>
  reading(
    world,
    Effect.gen(function* () {
      const { checked, findings, ok } = yield* Chain.use((chain) => chain.verify())
      const problems = findings.map((finding) => `chain: ${JSON.stringify(finding)}`)
      if (!ok && problems.length === 0) problems.push("chain: the check says no and finds nothing")
      if (checked !== world.records.length)
        problems.push(`chain: ${checked} records were checked, ${world.records.length} are stored`)
      return problems
    })
  )

/** Opens a governor that only reads, over the real ports. What refuses a start is a problem like any other. */
export const reading = <A>(
  { origin, ports }: Pick<Checked, "ports" | "origin">,
  read: Effect.Effect<A, unknown, Chain | Replay>
): Effect.Effect<A, unknown> =>
  read.pipe(
    Effect.provide(governorLayer({ origin, readOnly: true })),
    Effect.provideService(Storage, ports.storage),
    Effect.provideService(Guard, ports.guard),
    Effect.provideService(Signer, ports.signer),
    Effect.provide(Layer.succeed(EvidenceCrypto, nodeCrypto))
  )
