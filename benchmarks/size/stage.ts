/** One stage: the database grows to so many records, and everything is done with it once. */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { commandsOf, type Place, sizeOf, storeOf } from "./commands.ts"
import type { Taken } from "./measured-process.ts"

/** Measurements of one command at one size. */
export interface Step {
  /** Records that the command went through. */
  readonly records: number
  readonly wallMs: number
  readonly cpuMs: number
  readonly peakRssMb: number
}

/** Result of a stage. */
export interface Stage {
  /** Decisions in the store when it was done. */
  readonly size: number
  readonly steps: { readonly [step: string]: Step }
  readonly databaseBytes: number
  readonly packBytes: number
  readonly zstBytes: number | null
  readonly proof: {
    readonly makeMedianMs: number
    readonly makeP99Ms: number
    readonly checkMedianMs: number
    readonly packBytes: number
  }
}

/** Steps to leave out of a stage. */
export interface Without {
  readonly zst: boolean
  readonly check: boolean
}

/** Grows the store from `from` to `size` decisions and measures every command on it. */
export const runStage = async (place: Place, from: number, size: number, without: Without): Promise<Stage> => {
  const { folder, say } = place
  const commands = commandsOf(place)
  const steps: { [step: string]: Step } = {}
  const note = (name: string, records: number, { cpuMs, peakRssMb, wallMs }: Taken): void => {
    steps[name] = { records, wallMs, cpuMs, peakRssMb }
    say(
      `  ${name}: ${(wallMs / 1_000).toFixed(1)} s, ${Math.round((records / wallMs) * 1_000)} records/s, ` +
        `${((wallMs / records) * 1_000).toFixed(1)} us a record (${((cpuMs / records) * 1_000).toFixed(1)} of ` +
        `CPU), ${Math.round(peakRssMb)} MB`
    )
  }
  note("import", size - from, await commands.importLines(from, size - from))
  const databaseBytes = sizeOf(storeOf(place))

  const pack = join(folder, "size.evp")
  const exported = async (name: string, path: string): Promise<number> => {
    rmSync(path, { force: true })
    note(`export${name}`, size, await commands.exportTo(path))
    const bytes = sizeOf(path)
    note(`verify${name}`, size, await commands.verify(path))
    rmSync(path)
    return bytes
  }
  const packBytes = await exported("", pack)
  const zstBytes = without.zst ? null : await exported(".zst", `${pack}.zst`)
  if (!without.check) note("check", size, await commands.check())
  const proofs = await commands.prove()
  const proof = JSON.parse(proofs.out) as Stage["proof"]
  say(
    `  proof: made in ${proof.makeMedianMs} ms (p99 ${proof.makeP99Ms}), checked in ${proof.checkMedianMs} ms, ` +
      `a pack of one record has ${proof.packBytes} bytes; ${Math.round(proofs.peakRssMb)} MB`
  )
  return { size, steps, databaseBytes, packBytes, zstBytes, proof }
}
