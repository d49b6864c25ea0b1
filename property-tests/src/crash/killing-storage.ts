/** A store whose process kills itself (SIGKILL) at one statement. */
import { writeSync } from "node:fs"
import { layerOf, Storage, type StorageChoice } from "@flyball/core"
import type { ChangeSet } from "@flyball/core/storage"
import { Effect, Layer } from "effect"

/** When to die: before or after a statement, or so many milliseconds into it; null: never. */
export interface Death {
  /** Name and number of the statement, as they are written. */
  readonly statement: string
  /** `before`, `after`, or `during N`. */
  readonly moment: string
}

const die = (): void => void process.kill(process.pid, "SIGKILL")

/** A statement by its collection; a commit by those that it puts. */
const nameOf = (name: string, first: unknown): string => {
  if (typeof first === "string") return `${name} ${first}`
  const { puts = [] } = (name === "commit" ? first : {}) as ChangeSet
  return [name, ...new Set(puts.map(({ collection }) => collection))].join(" ")
}

/** Statements of the store that are counted. */
const all = ["commit", "counters", "find", "get", "list", "once", "range", "record", "records"] as const

/**
 * The store, which writes the name of each statement to standard output before it runs, from `begin` to `end`, and ends
 * the process at the one that is named. `methods`: those that count.
 */
export const killingStorage = (
  choice: StorageChoice,
  { moment, statement }: Death,
  methods: ReadonlyArray<(typeof all)[number]> = all
) => {
  let isCounting = false
  const seen = new Map<string, number>()
  const counted = <A, E, R>(name: string, run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      if (!isCounting) return run
      const count = (seen.get(name) ?? 0) + 1
      seen.set(name, count)
      const isMine = statement === `${name} #${count}`
      writeSync(1, `statement ${name} #${count}\n`)
      if (!isMine) return run
      if (moment === "before") die()
      if (moment.startsWith("during")) setTimeout(die, Number(moment.slice("during ".length)))
      return Effect.onExit(run, () => Effect.sync(() => moment === "after" && die()))
    })
  const layer = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) => {
      const wrapped = methods.map((name) => {
        const method = storage[name] as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown>
        return [name, (...args: ReadonlyArray<unknown>) => counted(nameOf(name, args[0]), method(...args))]
      })
      const asOf = methods === all ? counted("asOf", storage.asOf) : storage.asOf
      return Storage.of({ ...storage, ...Object.fromEntries(wrapped), asOf })
    })
  ).pipe(Layer.provide(layerOf(choice)))
  return {
    layer,
    begin: () => void (isCounting = true),
    end: () => void (isCounting = false)
  }
}

/** The names of statements in what such a process wrote. */
export const statementsIn = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .filter((line) => line.startsWith("statement "))
    .map((line) => line.slice("statement ".length))
