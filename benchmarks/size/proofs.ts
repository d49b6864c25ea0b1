/**
 * `node benchmarks/size/proofs.ts FILE DIR`: inclusion proofs at random places of a store that is there, as one line of
 * JSON.
 */
import { Chain, governorLayer, keysLayerOf, layerOf, Packs } from "@flyball/core"
import { fromHex, verifyInclusion } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { Layer, ManagedRuntime } from "effect"
import { figure, median, quantile, timed } from "../harness.ts"
import { below, randomOf } from "./random.ts"

const PROOFS = 1_000
/**
 * Proofs made before, and not counted: a service that answers is not at its first calls, which compile what the others
 * run. The hash of nodes is the last, after 20,000 nodes.
 */
const FIRST_PROOFS = 400

const [file, dir] = process.argv.slice(2)
const runtime = ManagedRuntime.make(
  governorLayer({ readOnly: true }).pipe(
    Layer.provideMerge(layerOf(sqliteStorage({ file: file!, readOnly: true }))),
    Layer.provide(keysLayerOf(dataFolder({ dir: dir! })))
  )
)
const bytesOf = (digest: string): Uint8Array => fromHex(digest.replace(/^sha256:/, ""))!
const { seq: last } = await runtime.runPromise(Chain.use(({ head }) => head))
const random = randomOf(last)
const made: Array<number> = []
const checked: Array<number> = []
const prove = (seq: number) => runtime.runPromise(Chain.use((chain) => chain.proof(seq)))
for (let index = 0; index < FIRST_PROOFS; index++) await prove(below(random, last + 1))
for (let index = 0; index < PROOFS; index++) {
  const seq = below(random, last + 1)
  const startedAt = performance.now()
  const proof = await prove(seq)
  made.push(performance.now() - startedAt)
  const claim = {
    seq,
    size: proof.tree_size,
    leaf: bytesOf(proof.record_hash),
    proof: proof.proof.map(bytesOf),
    root: bytesOf(proof.root_hash)
  }
  checked.push(
    await timed(() => {
      if (!verifyInclusion(nodeCrypto, claim)) throw new Error(`the proof of record ${seq} does not hold`)
    })
  )
}
const pack = await runtime.runPromise(
  Packs.use((packs) => packs.export({ kind: "sparse", from: last >> 1, to: last >> 1, disclose: "none" }))
)
const packBytes = Buffer.concat(await Array.fromAsync(pack)).length
console.log(
  JSON.stringify({
    makeMedianMs: figure(median(made)),
    makeP99Ms: figure(quantile(made, 0.99)),
    checkMedianMs: figure(median(checked)),
    packBytes
  })
)
await runtime.dispose()
