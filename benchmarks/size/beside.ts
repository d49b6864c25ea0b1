/**
 * Cost of a record in the largest store, beside a store of a million in the same minutes.
 *
 * A run to ten million takes half an hour, and a machine that others share is a third quicker or slower from one minute
 * to the next: what one stage costs
 * beside another tells as much of that as of the sizes. So each command runs on both stores in turn, and middle ones
 * are compared.
 */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { median } from "../harness.ts"
import { type Commands, commandsOf, type Place } from "./commands.ts"
import type { Taken } from "./measured-process.ts"

/** Records of the store that the largest is compared with: one where the start of a process counts for little. */
export const REFERENCE = 1_000_000
/** Decisions that are added to each store at a time, to compare imports. */
const ADDED = 300_000
const IMPORTS = 2
const VERIFICATIONS = 3

const compared = ["import", "export", "verify"] as const

/** Processor time a record in the largest store, in terms of what it takes in the reference, by command. */
export type Growth = { readonly [command in (typeof compared)[number]]: number }

/**
 * Compares the store of a place, which has `size` decisions, with a new one. Its own is larger by two imports
 * afterwards.
 */
export const growthBeside = async (place: Place, size: number): Promise<Growth> => {
  const folder = join(place.folder, "reference")
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const large = storeAt(place, size)
  const reference = storeAt({ ...place, folder }, REFERENCE)
  await reference.commands.importLines(0, REFERENCE)
  for (let round = 0; round < IMPORTS; round++) {
    for (const store of round % 2 === 0 ? [reference, large] : [large, reference]) {
      await addTo(store)
    }
  }
  for (const store of [reference, large, reference]) {
    rmSync(store.pack, { force: true })
    store.note("export", store.records, await store.commands.exportTo(store.pack))
  }
  for (let round = 0; round < VERIFICATIONS; round++) {
    for (const store of round % 2 === 0 ? [reference, large] : [large, reference])
      store.note("verify", store.records, await store.commands.verify(store.pack))
  }
  for (const { pack } of [large, reference]) rmSync(pack)
  rmSync(folder, { recursive: true })
  return Object.fromEntries(
    compared.map((command) => [command, median(large.costs[command]) / median(reference.costs[command])])
  ) as unknown as Growth
}

/**
 * Imports decisions that are new. Those of a run that was stopped here are there already, cost next to nothing, and do
 * not count.
 */
const addTo = async (store: Compared): Promise<void> => {
  for (;;) {
    const taken = await store.commands.importLines(store.records, ADDED)
    store.records += ADDED
    if (taken.out.includes(`: ${ADDED} new,`)) return store.note("import", ADDED, taken)
  }
}

interface Compared {
  readonly commands: Commands
  readonly pack: string
  /** Microseconds of processor time a record, of each run. */
  readonly costs: { readonly [command in (typeof compared)[number]]: Array<number> }
  records: number
  readonly note: (command: (typeof compared)[number], records: number, taken: Taken) => void
}

const storeAt = (place: Place, records: number): Compared => {
  const costs = { import: [], export: [], verify: [] } as Compared["costs"]
  const name = records.toLocaleString("en-GB")
  return {
    commands: commandsOf(place),
    pack: join(place.folder, "beside.evp"),
    costs,
    records,
    note: (command, through, { cpuMs, peakRssMb }) => {
      const cost = (cpuMs / through) * 1_000
      costs[command].push(cost)
      place.say(`  ${command} at ${name}: ${cost.toFixed(1)} us of CPU a record, ${Math.round(peakRssMb)} MB`)
    }
  }
}
