/** One stage: the database grows to so many records, and everything is done with it once. */
import { spawn } from "node:child_process"
import { rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { measured, type Taken } from "./measured-process.ts"
import type { Ids } from "./trace-lines.ts"

/** What one command took at one size. */
export interface Step {
  /** Records that the command went through. */
  readonly records: number
  readonly wallMs: number
  readonly cpuMs: number
  readonly peakRssMb: number
}

/** What a stage came to. */
export interface Stage {
  /** Decisions in the store when it was done. */
  readonly size: number
  readonly steps: { readonly [step: string]: Step }
  readonly databaseBytes: number
  readonly packBytes: number
  readonly zstBytes: number | null
  readonly proof: { readonly makeMedianMs: number; readonly makeP99Ms: number; readonly checkMedianMs: number; readonly packBytes: number }
}

/** Where a stage works, and how. */
export interface Place {
  readonly folder: string
  readonly seed: number
  readonly ids: Ids
  readonly say: (text: string) => void
}

/** What is left out of a stage. */
export interface Without {
  readonly zst: boolean
  readonly check: boolean
}

const root = fileURLToPath(new URL("../..", import.meta.url))
const bin = (name: string): string => join(root, "node_modules/.bin", name)
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The store of a place. */
export const storeOf = ({ folder }: Place): string => join(folder, "flyball.db")

/** Grows the store from `from` to `size` decisions and measures every command on it. */
export const runStage = async (place: Place, from: number, size: number, without: Without): Promise<Stage> => {
  const { folder, say } = place
  const store = storeOf(place)
  const environment = { ...process.env, FLYBALL_DATA_DIR: folder, FLYBALL_DATABASE_URL: `sqlite:${store}`, FLYBALL_ORIGIN: "flyball.example/size" }
  const steps: { [step: string]: Step } = {}
  const note = (name: string, records: number, { cpuMs, peakRssMb, wallMs }: Taken): void => {
    steps[name] = { records, wallMs, cpuMs, peakRssMb }
    say(`  ${name}: ${(wallMs / 1_000).toFixed(1)} s, ${Math.round(records / wallMs * 1_000)} records/s, ${(wallMs / records * 1_000).toFixed(1)} us a record (${(cpuMs / records * 1_000).toFixed(1)} of CPU), ${Math.round(peakRssMb)} MB`)
  }
  const run = (name: string, command: string, args: ReadonlyArray<string>, progress?: () => string): Promise<Taken> =>
    measured(name, command, args, environment, { say, ...progress === undefined ? {} : { progress } })

  const lines = spawn(process.execPath, [file("./generate.ts"), "--first", String(from), "--lines", String(size - from), "--seed", String(place.seed), "--ids", place.ids], { stdio: ["ignore", "pipe", "inherit"] })
  note("import", size - from, await measured("import", bin("flyball"), ["import", "-"], environment, { input: lines.stdout, say, progress: () => `database ${megabytes(sizeOf(store))}` })
    .finally(() => lines.kill()))
  const databaseBytes = sizeOf(store)

  const pack = join(folder, "size.evp")
  const vkey = (await run("vkey", bin("flyball"), ["vkey"])).out.trim()
  const exported = async (name: string, path: string): Promise<number> => {
    rmSync(path, { force: true })
    note(`export${name}`, size, await run(`export${name}`, bin("flyball"), ["export", "--kind", "full", "--disclose", "all", "--out", path]))
    const bytes = sizeOf(path)
    note(`verify${name}`, size, await run(`verify${name}`, bin("flyball-verify"), [path, "--vkey", vkey, "--quiet"]))
    rmSync(path)
    return bytes
  }
  const packBytes = await exported("", pack)
  const zstBytes = without.zst ? null : await exported(".zst", `${pack}.zst`)
  if (!without.check) note("check", size, await run("check", bin("flyball"), ["check"]))
  const proofs = await run("proof", process.execPath, [file("./proofs.ts"), store, folder])
  const proof = JSON.parse(proofs.out) as Stage["proof"]
  say(`  proof: made in ${proof.makeMedianMs} ms (p99 ${proof.makeP99Ms}), checked in ${proof.checkMedianMs} ms, a pack of one record has ${proof.packBytes} bytes; ${Math.round(proofs.peakRssMb)} MB`)
  return { size, steps, databaseBytes, packBytes, zstBytes, proof }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`
