/**
 * Checks a full pack, every record: form, hash, link, root. Compared with the same SHA-256 calls by OpenSSL and nothing
 * else, on one core. Design section 6.
 */
import { hash } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { memoryStorage } from "@flyball/core/storage"
import { verifyPackFile } from "@flyball/evidence/node"
import { decisionsFrom } from "./decisions.ts"
import { alternate, type Benchmark, figure, type Line } from "./harness.ts"

const RECORDS = 600_000
const BATCH = 1_000
const ROUNDS = 5
const GOAL = 0.3

/**
 * Leaves as they are hashed: 0x00, then the record. They lie in the pack's own bytes, where the zero takes the place of
 * the space behind R.
 */
const leavesIn = (pack: Uint8Array): ReadonlyArray<Uint8Array> => {
  const leaves: Array<Uint8Array> = []
  const tag = "R".charCodeAt(0)
  for (let at = 0; at < pack.length;) {
    const end = pack.indexOf(10, at)
    if (pack[at] === tag) {
      pack[at + 1] = 0
      leaves.push(pack.subarray(at + 1, end))
    }
    at = end + 1
  }
  return leaves
}

/**
 * Makes the pack; answers the key of its log. On its own, so that the governor and all that its storage keeps is gone
 * when the measuring begins.
 */
const makePack = async (file: string, keys: string): Promise<string> => {
  await using governor = await openGovernor({
    storage: memoryStorage(),
    keys: dataFolder({ dir: keys, origin: "flyball.example/bench" })
  })
  const { agent } = await governor.agents.register({ name: "bench", org_unit: "bench" })
  for (let from = 0; from < RECORDS; from += BATCH) await governor.witness(agent.id, decisionsFrom(from, BATCH))
  await writeFile(file, governor.exportPack({ kind: "full", disclose: "none" }))
  return governor.chain.vkey
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "verify",
  about: `a full pack of ${RECORDS} records, no part disclosed, against the ${2 * RECORDS - 1} SHA-256 calls alone`,
  run: async (say) => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    try {
      say("making the pack …")
      const file = join(folder, "full.evp")
      const vkey = await makePack(file, join(folder, "keys"))
      const pack = readFileSync(file)
      const leaves = leavesIn(new Uint8Array(pack.buffer, pack.byteOffset, pack.length))
      const node = new Uint8Array(65).fill(1)
      // "binary" is the cheapest form of a digest in Node: with "buffer" the limit would be half as fast, and our ratio
      // twice as good.
      const limit = (): void => {
        for (const leaf of leaves) hash("sha256", leaf, "binary")
        for (let count = 1; count < leaves.length; count++) hash("sha256", node, "binary")
      }
      const { limitMs, ratio, subjectMs } = await alternate(ROUNDS, limit, async () => {
        const report = await verifyPackFile(file, { vkeys: [vkey] })
        if (report.exit !== 0) throw new Error(`the pack does not verify: exit ${report.exit}`)
      })
      const perSecond = (ms: number): number => figure((leaves.length / ms) * 1_000)
      const line: Line = {
        name: "verify.full",
        value: perSecond(subjectMs),
        unit: "records/s",
        limit: perSecond(limitMs),
        ratio: figure(ratio),
        goal: `ratio >= ${GOAL}`,
        met: ratio >= GOAL
      }
      say(`${figure(pack.length / 1e6)} MB; the digest of the whole file is part of the check, and not of the limit`)
      return [line]
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
