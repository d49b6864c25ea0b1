/** Checking a full pack, every record: form, hash, link, root, on one core and on two, against the same SHA-256 calls by OpenSSL on one core and nothing else. Design section 6. */
import { hash } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { memoryStorage } from "@flyball/core/storage"
import { verifyPackFile } from "@flyball/evidence/node"
import { decisionsFrom } from "./decisions.ts"
import { alternate, type Benchmark, figure, type Line } from "./harness.ts"

const RECORDS = 200_000
const BATCH = 1_000
const ROUNDS = 7

/** Leaves as they are hashed (0x00, then the record), taken from the pack's lines. */
const leavesOf = (pack: Uint8Array): ReadonlyArray<Uint8Array> => {
  const leaves: Array<Uint8Array> = []
  const tag = "R".charCodeAt(0)
  for (let at = 0; at < pack.length;) {
    const end = pack.indexOf(10, at)
    if (pack[at] === tag) {
      const leaf = new Uint8Array(end - at - 1)
      leaf.set(pack.subarray(at + 2, end), 1)
      leaves.push(leaf)
    }
    at = end + 1
  }
  return leaves
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "verify",
  about: `a full pack of ${RECORDS} records, no part disclosed, one core and two, against the ${2 * RECORDS - 1} SHA-256 calls alone`,
  run: async (say) => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    try {
      say("making the pack …")
      await using governor = await openGovernor({ storage: memoryStorage(), keys: dataFolder({ dir: join(folder, "keys"), origin: "flyball.example/bench" }) })
      const { agent } = await governor.agents.register({ name: "bench", org_unit: "bench" })
      for (let from = 0; from < RECORDS; from += BATCH) await governor.witness(agent.id, decisionsFrom(from, BATCH))
      const pack = Buffer.concat(await Array.fromAsync(governor.exportPack({ kind: "full", disclose: "none" })))
      const file = join(folder, "full.evp")
      writeFileSync(file, pack)
      const leaves = leavesOf(pack)
      const node = new Uint8Array(65).fill(1)
      // "binary" is the cheapest form of a digest in Node: with "buffer" the limit would be half as fast, and our ratio twice as good.
      const limit = (): void => {
        for (const leaf of leaves) hash("sha256", leaf, "binary")
        for (let count = 1; count < leaves.length; count++) hash("sha256", node, "binary")
      }
      const lines: Array<Line> = []
      for (const [cores, threads, goal] of [["one_core", 1, 0.5], ["two_cores", 2, 0.9]] as const) {
        const { limitMs, ratio, subjectMs } = await alternate(ROUNDS, limit, async () => {
          const report = await verifyPackFile(file, { vkeys: [governor.chain.vkey], threads })
          if (report.exit !== 0) throw new Error(`the pack does not verify: exit ${report.exit}`)
        })
        lines.push({ name: `verify.full.${cores}`, value: figure(leaves.length / subjectMs * 1_000), unit: "records/s", limit: figure(leaves.length / limitMs * 1_000), ratio: figure(ratio), goal: `ratio >= ${goal}`, met: ratio >= goal })
      }
      say(`${figure(pack.length / 1e6)} MB; the digest of the whole file is part of the check, and not of the limit; the threads are started anew in each round`)
      return lines
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
