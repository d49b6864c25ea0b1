/**
 * Kills a process at each statement of a request with an `Idempotency-Key`, sends the request again, and says what came
 * of it. Property P6.
 */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { type Governor, openGovernor, type StorageChoice } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { statementsIn } from "../crash/killing-storage.ts"
import { type StoreAt, storageAt } from "../crash/store-at.ts"
import { type TrialRequest, effectsOf, sendTo, TAKEN } from "./trial-request.ts"
import { trial } from "./trial.ts"

const program = fileURLToPath(new URL("./crashing-process.ts", import.meta.url))

/** The state that a kill left, by the request that came again. */
export type Outcome =
  /** Nothing, and the request ran. */
  | "neither"
  /** Effect and answer, which was answered again. */
  | "both"
  /** The effect without the answer: the request was refused for good, or until others take its process for dead. */
  | "effect, answer lost"

/** One kill: at which statement of the request, when, and what it left. */
export interface Crash {
  readonly act: TrialRequest["act"]
  /** Its place among the statements of a request that is not killed. */
  readonly index: number
  readonly statement: string
  readonly moment: string
  readonly outcome: Outcome
}

/** Runs a request in a process; the names of its statements. `moment`: when to kill it, null for never. */
const live = (at: StoreAt, dir: string, requested: TrialRequest, statement: string, moment: string | null) =>
  new Promise<ReadonlyArray<string>>((resolve, reject) => {
    const args = [JSON.stringify(at), dir, JSON.stringify(requested), statement, moment ?? "never"]
    const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] })
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
    child.on("close", (status, signal) => {
      if (signal !== "SIGKILL" && status !== 0) return reject(new Error(`A process ended with ${status ?? signal}.`))
      resolve(statementsIn(text))
    })
  })

const opened = (at: StoreAt, dir: string): Promise<Governor> =>
  openGovernor({
    storage: storageAt(at) satisfies StorageChoice,
    keys: dataFolder({ dir }),
    log: () => undefined,
    capabilities: [trial],
    channelCheckS: 0
  })

/** Options of {@link crashes}. */
export interface Crashing {
  readonly at: StoreAt
  readonly dir: string
  readonly acts: ReadonlyArray<TrialRequest["act"]>
  /** True for a statement to die at; left out: all are. */
  readonly isOne?: (statement: string) => boolean
  readonly moments: (statement: string) => ReadonlyArray<string>
}

/** Kills a process at each statement, each time with a key of its own. Throws where an effect came twice or is gone. */
export const crashes = async (of: Crashing): Promise<ReadonlyArray<Crash>> => {
  const { at, dir } = of
  const found: Array<Crash> = []
  const first = await opened(at, dir)
  await first.agents.create({ name: TAKEN, org_unit: "ops" })
  await first.close()
  for (const act of of.acts) {
    const statements = await live(at, dir, { act, key: `${act} never` }, "", null)
    for (const [index, statement] of statements.entries()) {
      if (of.isOne?.(statement) === false) continue
      for (const moment of of.moments(statement)) {
        const key = `${act} ${index} ${moment}`
        await live(at, dir, { act, key }, statement, moment)
        found.push({ act, index, statement, moment, outcome: await outcomeOf(of, { act, key }) })
      }
    }
  }
  return found
}

/** Sends a request again, and compares what there is before and after. */
const outcomeOf = async (of: Crashing, requested: TrialRequest): Promise<Outcome> => {
  const { act } = requested
  const governor = await opened(of.at, of.dir)
  const effects = () => effectsOf(governor, requested)
  try {
    const before = await effects()
    const again = await sendTo(governor, requested)
    const [after, last] = [await effects(), await sendTo(governor, requested)]
    const said = JSON.stringify({ requested, before, after, again, last })
    if (after !== 1) throw new Error(`One effect was expected: ${said}`)
    const isLost = again.code === "idempotency_answer_lost" || again.code === "idempotency_key_in_use"
    if (isLost && act === "agent" && before === 1) return "effect, answer lost"
    if (again.status !== (act === "refused" ? 409 : 201) || isLost) throw new Error(`Another answer: ${said}`)
    if (!last.isReplay) throw new Error(`The answer was not kept: ${said}`)
    if (act !== "refused" && again.isReplay !== (before === 1)) throw new Error(`Half of it: ${said}`)
    return again.isReplay ? "both" : "neither"
  } finally {
    await governor.close()
  }
}
