/**
 * A process that sends itself one request with an `Idempotency-Key` and kills itself (SIGKILL) at one statement of the
 * store. It writes the name of each statement before it runs, and the answer where it lives so long.
 */
import { writeSync } from "node:fs"
import { layerOf, openGovernor, Storage, storageChoice } from "@flyball/core"
import type { ChangeSet } from "@flyball/core/storage"
import { dataFolder } from "@flyball/node"
import { Effect, Layer } from "effect"
import { storageAt } from "../crash/store-at.ts"
import { type TrialRequest, sendTo } from "./trial-request.ts"
import { trial } from "./trial.ts"

const [at, dir, requested, statement, moment] = process.argv.slice(2)
const place = JSON.parse(at!)
let isCounting = false
const seen = new Map<string, number>()

const die = (): void => void process.kill(process.pid, "SIGKILL")

/** Runs a statement of the store, and ends the process before, during or after the one that was named. */
const counted = <A, E, R>(name: string, run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    if (!isCounting) return run
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    const isMine = statement === `${name} #${count}`
    writeSync(1, `statement ${name} #${count}\n`)
    if (!isMine) return run
    if (moment === "before") die()
    if (moment!.startsWith("during")) setTimeout(die, Number(moment!.slice("during ".length)))
    return Effect.onExit(run, () => Effect.sync(() => moment === "after" && die()))
  })

/** A statement by its collection; a commit by those that it puts. */
const nameOf = (name: string, first: unknown): string => {
  if (typeof first === "string") return `${name} ${first}`
  const { puts = [] } = (name === "commit" ? first : {}) as ChangeSet
  return [name, ...new Set(puts.map(({ collection }) => collection))].join(" ")
}

const methods = ["commit", "counters", "find", "get", "list", "once", "range", "record", "records"] as const
const killing = Layer.effect(
  Storage,
  Effect.map(Storage, (storage) => {
    const wrapped = methods.map((name) => {
      const method = storage[name] as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown>
      return [name, (...args: ReadonlyArray<unknown>) => counted(nameOf(name, args[0]), method(...args))]
    })
    return Storage.of({ ...storage, ...Object.fromEntries(wrapped), asOf: counted("asOf", storage.asOf) })
  })
)

const governor = await openGovernor({
  storage: storageChoice("sqlite", killing.pipe(Layer.provide(layerOf(storageAt(place))))),
  keys: dataFolder({ dir: dir! }),
  log: () => undefined,
  capabilities: [trial],
  channelCheckS: 0
})
const { act, key } = JSON.parse(requested!) as TrialRequest
// What the first request of a process does besides is done before.
await sendTo(governor, { act: "agent", key: `${key} before` })
isCounting = true
const answer = await sendTo(governor, { act, key })
writeSync(1, `answer ${answer.status}\n`)
isCounting = false
await governor.close()
