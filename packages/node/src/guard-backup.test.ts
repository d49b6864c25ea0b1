import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { installGuardState, readGuardState } from "./guard-backup.ts"
import { openFolder } from "./open-folder.ts"

let dir: string
beforeEach(async () => { dir = join(await mkdtemp(join(tmpdir(), "flyball-")), "data") })
afterEach(() => rm(join(dir, ".."), { recursive: true, force: true }))

const state = { origin: "flyball.example/acme", size: 7, rootHex: "ab".repeat(32) }

test("reading makes nothing, and finds what was signed last", async () => {
  expect(await readGuardState(dir)).toBeNull()
  expect(await readdir(join(dir, ".."))).toEqual([])
  const { guard } = await openFolder({ dir })
  expect(await readGuardState(dir)).toBeNull()
  await guard.advance(null, state)
  expect(await readGuardState(dir)).toEqual(state)
})

test("a guard is installed where there is none, and no other one is ever replaced", async () => {
  expect(await installGuardState(dir, state)).toBe(true)
  expect(await readGuardState(dir)).toEqual(state)
  expect(await installGuardState(dir, state), "again is the same").toBe(true)
  expect(await installGuardState(dir, { ...state, size: 8 })).toBe(false)
  expect(await readGuardState(dir)).toEqual(state)
})

test("a garbled guard is a sentence, for both", async () => {
  await installGuardState(dir, state)
  await writeFile(join(dir, "guard", "0000000000000002"), "flyball-guard/v1\n")
  await expect(readGuardState(dir)).rejects.toThrow(/not what the guard wrote/)
  await expect(installGuardState(dir, state)).rejects.toThrow(/not what the guard wrote/)
})
