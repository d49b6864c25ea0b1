/**
 * Every byte of small packs changed, taken out or doubled: never exit 0, never a crash. The small round of `npm test`
 * takes one byte in seven.
 */
import { describe, expect, it } from "vitest"
import { gzipSync, zstdCompressSync } from "node:zlib"
import { verifyPack } from "@flyball/evidence"
import { bytesSource, detectCompression, nodeCrypto, packContent } from "@flyball/evidence/node"
import { makeChain } from "./chain.ts"
import type { PackPlan } from "./packs.ts"
import { check, makePack } from "./packs.ts"
import { runs } from "../runs.ts"

const chain = makeChain({ seed: 21, length: 6 })
/** Not divisible by two, so that every kind of change occurs. */
const STEP = runs(7, 1)
const plans: ReadonlyArray<PackPlan> = [
  { kind: "full", older: 3, hints: [chain.signer.vkey] },
  { kind: "range", from: 2, to: 4 },
  { kind: "sparse", seqs: [2, 4, 5] }
]

describe("a pack with one byte", () => {
  for (const plan of plans) {
    it(`changed is never good: ${plan.kind}`, async () => {
      const pack = await makePack(chain, plan)
      const passed: Array<string> = []
      for (let i = 0; i < pack.length; i += STEP) {
        // Case, neighbours in an alphabet, and the bit that leaves ASCII: each byte gets one, in turn.
        const bits = [0x20, 0x01, 0x80, 0x04][i % 4]!
        const changed = pack.slice()
        changed[i]! ^= bits
        if ((await check(changed, chain)).exit === 0) passed.push(`byte ${i} xor ${bits}`)
      }
      expect(passed).toEqual([])
    })

    it(`removed or added is never good: ${plan.kind}`, async () => {
      const pack = await makePack(chain, plan)
      const passed: Array<string> = []
      for (let i = 0; i < pack.length; i += STEP) {
        const changed =
          i % 2 === 0
            ? Buffer.concat([pack.subarray(0, i), pack.subarray(i + 1)])
            : Buffer.concat([pack.subarray(0, i + 1), pack.subarray(i)])
        if ((await check(changed, chain)).exit === 0) passed.push(`byte ${i}`)
      }
      expect(passed).toEqual([])
    })

    it(`cut off anywhere is not readable: ${plan.kind}`, async () => {
      const pack = await makePack(chain, plan)
      for (let length = 0; length < pack.length; length += STEP)
        expect((await check(pack.subarray(0, length), chain)).exit).toBe(3)
    })
  }

  it("changed in its compressed form is never good, unless the content is the same", async () => {
    const pack = await makePack(chain, { kind: "sparse", seqs: [2, 4] })
    for (const compressed of [gzipSync(pack), zstdCompressSync(pack)]) {
      for (let i = 0; i < compressed.length; i += STEP) {
        const source = bytesSource(compressed.with(i, compressed[i]! ^ 0x10))
        const read: Array<Uint8Array> = []
        const content = packContent(source, await detectCompression(source))
        const kept = async function* () {
          for await (const chunk of content) {
            read.push(chunk.slice())
            yield chunk
          }
        }
        const report = await verifyPack(nodeCrypto, kept(), { vkeys: [chain.signer.vkey] })
        // A gzip header has bytes without a meaning, such as its time.
        if (report.exit === 0) expect(Buffer.concat(read).equals(pack)).toBe(true)
      }
    }
  })
})
