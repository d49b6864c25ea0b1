/** Rounds of SIGKILL, each at a moment that the seed chose, and what must hold after each. */
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { layerOf } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { type Pick, pickOf, seededSource } from "@flyball/testkit"
import { Effect, Layer } from "effect"
import { audit } from "../audit/audit.ts"
import { Book, wordsOf } from "../audit/book.ts"
import { ORIGIN } from "./capturing-process.ts"
import { liveUntil, type Moment } from "./killed-process.ts"
import { type StoreAt, storageAt } from "./store-at.ts"

/** Result of some rounds. */
export interface Killed {
  readonly kills: number
  readonly acknowledged: number
  readonly records: number
  readonly checkpoints: number
  /** Kills by the last stage that the process reported. */
  readonly stages: ReadonlyMap<string, number>
}

/** Most time that a process takes to start, load and open, on a busy machine. Unit: microseconds. */
const START_US = 1_500_000
/** Time in which a store is opened, or closed. */
const OPEN_US = 250_000
/** Time that one signature takes, guard, key and document together. */
const SIGN_US = 6_000

/** A moment anywhere in a life: half of them in its work, the others at its edges and in a signature. */
const momentOf = (pick: Pick): Moment => {
  switch (pick(8)) {
    case 0:
      return { after: "start", count: 1, delayUs: pick(START_US) }
    case 1:
      return { after: "opening", count: 1, delayUs: pick(OPEN_US) }
    case 2:
    case 3:
      return { after: "signing", count: 1 + pick(4), delayUs: pick(SIGN_US) }
    case 4:
      return { after: "closing", count: 1, delayUs: pick(40_000) }
    default:
      return { after: "done", count: 1 + pick(400), delayUs: pick(3_000) }
  }
}

/**
 * Kills until `kills` processes have died on one store, and audits it after each; a full pack is verified after the
 * last.
 */
export const killRounds = async (at: StoreAt, dir: string, kills: number, seed: number): Promise<Killed> => {
  const pick = pickOf(seededSource(`kills ${seed}`))
  const book = new Book()
  const stages = new Map<string, number>()
  let killed = 0
  let found = { records: 0, checkpoints: 0 }
  for (let round = 0; killed < kills; round++) {
    const moment = momentOf(pick)
    const ended = await liveUntil(at, dir, round, moment, book)
    if (ended.killed) {
      killed += 1
      stages.set(ended.stage, (stages.get(ended.stage) ?? 0) + 1)
    }
    const where = `round ${round}, killed ${JSON.stringify(moment)} in stage ${ended.stage}, seed ${seed}`
    if ("sqlite" in at)
      await Effect.runPromise(
        Effect.scoped(
          Effect.andThen(
            Layer.build(layerOf(storageAt(at))),
            Effect.sync(() => assertGone(at.sqlite, book, `${where}, opened again`))
          )
        )
      )
    found = await audit(book, {
      storage: storageAt(at),
      keys: dataFolder({ dir, origin: ORIGIN }),
      where,
      pack: killed === kills
    })
    if ("sqlite" in at) assertGone(at.sqlite, book, where)
  }
  return { kills: killed, acknowledged: book.acknowledged, stages, ...found }
}

/**
 * Asserts that text whose erasure was acknowledged is in no file of the store any more, as soon as a process has opened
 * it again, and after it was closed in order.
 */
const assertGone = (file: string, book: Book, where: string): void => {
  for (const one of [file, `${file}-wal`]) {
    if (!existsSync(one)) continue
    const said = new Set(
      readFileSync(one)
        .toString("latin1")
        .match(/words of [^"]{1,40}?\./g)
    )
    for (const ref of book.erased.keys())
      assert.ok(!said.has(wordsOf(ref)), `${where}: ${ref} was acknowledged as erased, and its words are in ${one}`)
  }
}
