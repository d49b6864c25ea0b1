/**
 * A process that activates, acknowledges and releases until it is killed, and prints each act before it and after its
 * answer.
 *
 * Arguments: storage as JSON, data folder, ids of the agents. One line for each thing: `ask ACT KEY…`, `done ACT KEY…`.
 */
import { writeSync } from "node:fs"
import { openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { type StoreAt, storageAt } from "../crash/store-at.ts"

const say = (line: string): void => void writeSync(1, `${line}\n`)

const main = async (at: StoreAt, dir: string, agents: ReadonlyArray<string>): Promise<void> => {
  const governor = await openGovernor({ storage: storageAt(at), keys: dataFolder({ dir }) })
  say("stage open")
  const caller = async (agent: string): Promise<void> => {
    for (let turn = 0; ; turn++) {
      say(`ask activate ${agent}`)
      const { activation_event: id } = await governor.kill.activate({
        target_type: "agent",
        target_id: agent,
        response: turn % 2 === 0 ? "halt" : "drain",
        reason: "A crash test."
      })
      say(`done activate ${agent} ${id}`)
      say(`ask ack ${id}`)
      await governor.kill.ack({ activation_event: id!, instance_id: "pod", stopped: turn % 3 === 0 })
      say(`done ack ${id}`)
      if (turn % 2 === 0) continue
      say(`ask release ${id}`)
      await governor.kill.release({ activation_event: id!, reason: "A crash test." })
      say(`done release ${id}`)
    }
  }
  await Promise.all(agents.map(caller))
}

const [, , at, dir, ...agents] = process.argv
await main(JSON.parse(at!) as StoreAt, dir!, agents)
