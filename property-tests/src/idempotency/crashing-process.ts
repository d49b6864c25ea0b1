/**
 * A process that sends itself one request with an `Idempotency-Key` and kills itself (SIGKILL) at one statement of the
 * store. It writes the name of each statement before it runs, and the answer where it lives so long.
 */
import { writeSync } from "node:fs"
import { openGovernor, storageChoice } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { killingStorage } from "../crash/killing-storage.ts"
import { storageAt } from "../crash/store-at.ts"
import { type TrialRequest, sendTo } from "./trial-request.ts"
import { trial } from "./trial.ts"

const [at, dir, requested, statement, moment] = process.argv.slice(2)
const killing = killingStorage(storageAt(JSON.parse(at!)), { statement: statement!, moment: moment! })
const governor = await openGovernor({
  storage: storageChoice("sqlite", killing.layer),
  keys: dataFolder({ dir: dir! }),
  log: () => undefined,
  capabilities: [trial],
  channelCheckS: 0
})
const { act, key } = JSON.parse(requested!) as TrialRequest
// What the first request of a process does besides is done before.
await sendTo(governor, { act: "agent", key: `${key} before` })
killing.begin()
const answer = await sendTo(governor, { act, key })
writeSync(1, `answer ${answer.status}\n`)
killing.end()
await governor.close()
