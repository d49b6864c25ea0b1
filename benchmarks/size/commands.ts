/** The commands that are measured, on the store of a place. */
import { spawn } from "node:child_process"
import { statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { measured, type Taken } from "./measured-process.ts"
import type { Ids } from "./trace-lines.ts"

/** Where a store is, and what it is filled with. */
export interface Place {
  readonly folder: string
  readonly seed: number
  readonly ids: Ids
  readonly say: (text: string) => void
}

/** Runs real commands, and answers what they took. */
export interface Commands {
  /** Imports so many decisions, from this one of the seed on. */
  readonly importLines: (first: number, count: number) => Promise<Taken>
  /** Everything with all parts. A name that ends in `.zst` is compressed. */
  readonly exportTo: (path: string) => Promise<Taken>
  readonly verify: (path: string) => Promise<Taken>
  readonly check: () => Promise<Taken>
  /** Its output is one line of JSON. */
  readonly prove: () => Promise<Taken>
}

const root = fileURLToPath(new URL("../..", import.meta.url))
const bin = (name: string): string => join(root, "node_modules/.bin", name)
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The store of a place. */
export const storeOf = ({ folder }: Place): string => join(folder, "flyball.db")

/** The commands of a place. */
export const commandsOf = (place: Place): Commands => {
  const { folder, ids, say, seed } = place
  const store = storeOf(place)
  const environment = {
    ...process.env,
    FLYBALL_DATA_DIR: folder,
    FLYBALL_DATABASE_URL: `sqlite:${store}`,
    FLYBALL_ORIGIN: "flyball.example/size"
  }
  const run = (name: string, command: string, args: ReadonlyArray<string>): Promise<Taken> =>
    measured(name, command, args, environment, { say })
  return {
    importLines: (first, count) => {
      const lines = spawn(
        process.execPath,
        [
          file("./generate.ts"),
          "--first",
          String(first),
          "--lines",
          String(count),
          "--seed",
          String(seed),
          "--ids",
          ids
        ],
        { stdio: ["ignore", "pipe", "inherit"] }
      )
      const options = { input: lines.stdout, say, progress: () => `database ${megabytes(sizeOf(store))}` }
      return measured("import", bin("flyball"), ["import", "-"], environment, options).finally(() => lines.kill())
    },
    exportTo: (path) => run("export", bin("flyball"), ["export", "--kind", "full", "--disclose", "all", "--out", path]),
    verify: async (path) => {
      const vkey = (await run("vkey", bin("flyball"), ["vkey"])).out.trim()
      return run("verify", bin("flyball-verify"), [path, "--vkey", vkey, "--quiet"])
    },
    check: () => run("check", bin("flyball"), ["check"]),
    prove: () => run("proof", process.execPath, [file("./proofs.ts"), store, folder])
  }
}

/** Bytes of a file; 0 where there is none. */
export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`
