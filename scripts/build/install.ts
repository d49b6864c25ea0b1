/** Puts a joined program in its place, whole or not at all, beside a server that may still run from the one before. */
import { closeSync, fsyncSync, globSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Input } from "./inputs.ts"

/** Programs that are kept: the one that is started, and the one before, from which a running server may still load a file. */
const KEPT = 2
/** What another build left half made. Unit: milliseconds; no build takes as long. */
const ABANDONED_MS = 600_000
const MAKING = "making-"
const LIST = "built.json"

/** A folder to make a program in. */
export const makingFolder = (dist: string): string => {
  const folder = join(dist, `${MAKING}${process.pid}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Gives a made folder its name, and then names it as the one to start. Stopped anywhere, the one before is started. */
export const installProgram = (dist: string, making: string, name: string, list: { readonly v: number; readonly files: ReadonlyArray<Input> }, nowMs: number): void => {
  for (const file of globSync("**/*.*", { cwd: making })) makeDurable(join(making, file))
  const folder = join(dist, name)
  // The name says what it was made from: one that is there is the same, unless somebody damaged it.
  rmSync(folder, { recursive: true, force: true })
  renameSync(making, folder)
  const temporary = join(dist, `${MAKING}${process.pid}.json`)
  writeFileSync(temporary, JSON.stringify({ ...list, folder: name }))
  makeDurable(temporary)
  renameSync(temporary, join(dist, LIST))
  tidy(dist, name, nowMs)
}

/** A power cut must not leave names without contents. */
const makeDurable = (path: string): void => {
  const file = openSync(path, "r+")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

const tidy = (dist: string, current: string, nowMs: number): void => {
  const others = readdirSync(dist).filter((name) => name !== current && name !== LIST).map((name) => ({ name, madeAtMs: statSync(join(dist, name)).mtimeMs }))
  const [making, made] = [others.filter(({ name }) => name.startsWith(MAKING)), others.filter(({ name }) => !name.startsWith(MAKING))]
  const old = made.sort((a, b) => b.madeAtMs - a.madeAtMs).slice(KEPT - 1)
  for (const { name } of [...making.filter(({ madeAtMs }) => madeAtMs < nowMs - ABANDONED_MS), ...old]) rmSync(join(dist, name), { recursive: true, force: true })
}
