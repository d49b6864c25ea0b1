/**
 * A process whose agents fail until their breakers trip, over and over, until it is killed; it prints each act before
 * it and after its answer.
 *
 * Arguments: storage as JSON, data folder, pairs `AGENT/BREAKER`. One line for each thing: `ask ACT KEY…`, `done ACT
 * KEY…`.
 */
import { writeSync } from "node:fs"
import { openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { type StoreAt, storageAt } from "../crash/store-at.ts"

const say = (line: string): void => void writeSync(1, `${line}\n`)

const main = async (at: StoreAt, dir: string, pairs: ReadonlyArray<string>): Promise<void> => {
  const governor = await openGovernor({ storage: storageAt(at), keys: dataFolder({ dir }) })
  say("stage open")
  const life = crypto.randomUUID()
  const caller = async (pair: string): Promise<void> => {
    const [agent, breaker] = pair.split("/") as [string, string]
    const shown = async () => (await governor.breakers.list(agent)).find(({ id }) => id === breaker)!
    for (let turn = 0; ; turn++) {
      for (const part of [0, 1])
        await governor.witness(agent, [
          { client_ref: `${life}-${turn}-${part}`, kind: "tool_call", action: "pay", status: "error" }
        ])
      say(`ask trip ${agent}`)
      await governor.evaluate({ agent_id: agent, client_ref: `${life}-${turn}`, signals: {} })
      const { fired_event_id: activation } = await shown()
      say(`done trip ${agent} ${activation}`)
      say(`ask lift ${activation}`)
      await governor.kill.release({ activation_event: activation!, reason: "A crash test." })
      say(`done lift ${activation}`)
      say(`ask rearm ${agent}`)
      await governor.breakers.release(breaker, { reason: "A crash test." })
      say(`done rearm ${agent} ${activation}`)
    }
  }
  await Promise.all(pairs.map(caller))
}

const [, , at, dir, ...pairs] = process.argv
await main(JSON.parse(at!) as StoreAt, dir!, pairs)
