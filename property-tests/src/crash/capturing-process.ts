/**
 * A process that captures, settles and erases from several callers at once until it is killed, and says what was acknowledged.
 *
 * Arguments: storage as JSON (`{"sqlite": file}` or `{"postgres": url}`), data folder, number of the round. Each acknowledged act is one line on
 * standard output, written before the caller goes on.
 */
import { writeSync } from "node:fs"
import { openGovernor, type StorageChoice } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"

/** Where the store is. */
export type StoreAt = { readonly sqlite: string } | { readonly postgres: string }

/** The storage choice of a place. */
export const storageAt = (at: StoreAt): StorageChoice => "sqlite" in at ? sqliteStorage({ file: at.sqlite }) : postgresStorage({ url: at.postgres })

/** Name of the one agent of these tests. */
export const AGENT = "crash-bot"

const CALLERS = 8
const acknowledge = (line: string): void => {
  writeSync(1, `${line}\n`)
}

const main = async (at: StoreAt, dir: string, round: number): Promise<void> => {
  const governor = await openGovernor({ storage: storageAt(at), keys: dataFolder({ dir, origin: "flyball.example/crash" }) })
  const { agent } = await governor.agents.register({ name: AGENT, org_unit: "crash" })
  const caller = async (number: number): Promise<void> => {
    for (let index = 0;; index++) {
      const size = 1 + (index % 3)
      const refs = Array.from({ length: size }, (_, item) => `r${round}/c${number}/${index}/${item}`)
      const { receipts } = await governor.witness(agent.id, refs.map((client_ref) => ({ client_ref, action: "refund", kind: "tool_call" as const, args: { client_ref } })))
      for (const receipt of receipts) acknowledge(`witnessed ${receipt.client_ref} ${receipt.seq} ${receipt.record_hash}`)
      const [first] = receipts
      if (index % 4 === 1) {
        const settled = await governor.settle(first!.decision_id, { status: "ok", result: "done" })
        acknowledge(`settled ${first!.client_ref} ${settled.seq} ${settled.record_hash}`)
      }
      if (index % 7 === 3) {
        await governor.erase({ seq: first!.seq, name: "args", reason: "retention" })
        acknowledge(`erased ${first!.client_ref} ${first!.seq} -`)
      }
      if (index % 16 === 9) await governor.checkpointNow()
    }
  }
  acknowledge("ready - -1 -")
  await Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)))
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [, , at, dir, round] = process.argv
  await main(JSON.parse(at!) as StoreAt, dir!, Number(round))
}
