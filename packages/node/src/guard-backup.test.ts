import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { acceptGuardState, guardInDoubt, installGuardState, readGuardState, removeGuardState } from "./guard-backup.ts"
import { formatGuardState } from "./guard-state.ts"
import { openFolder } from "./open-folder.ts"

let dir: string
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), "flyball-")), "data")
})
afterEach(() => rm(join(dir, ".."), { recursive: true, force: true }))

const state = { origin: "flyball.example/acme", size: 7, rootHex: "ab".repeat(32) }

test("reading a guard creates no file, and returns the state that was signed last", async () => {
  expect(await readGuardState(dir)).toBeNull()
  expect(await readdir(join(dir, ".."))).toEqual([])
  const { guard } = await openFolder({ dir })
  expect(await readGuardState(dir)).toBeNull()
  await guard.advance(null, state)
  expect(await readGuardState(dir)).toEqual(state)
})

test("a guard is installed only where there is none: an existing one is never replaced", async () => {
  expect(await installGuardState(dir, state)).toBe(true)
  expect(await readGuardState(dir)).toEqual(state)
  expect(await installGuardState(dir, state), "again is the same").toBe(true)
  expect(await installGuardState(dir, { ...state, size: 8 })).toBe(false)
  expect(await readGuardState(dir)).toEqual(state)
})

test("reading and installing both fail with a sentence when the guard is garbled", async () => {
  await installGuardState(dir, state)
  await writeFile(join(dir, "guard", "0000000000000002"), "flyball-guard/v1\n")
  await expect(readGuardState(dir)).rejects.toThrow(/not what the guard wrote/)
  await expect(installGuardState(dir, state)).rejects.toThrow(/not what the guard wrote/)
})

test("a guard from a backup signs for its chain only once it is accepted, but allows a new chain", async () => {
  const { guard } = await openFolder({ dir })
  await installGuardState(dir, state)
  expect([await guard.inDoubt(), await guardInDoubt(dir)]).toEqual([true, true])
  await expect(guard.advance(state, { ...state, size: 8 })).rejects.toThrow(
    /a backup's guard, and more may have been signed/
  )
  expect(await guard.advance(state, { ...state, origin: "flyball.example/acme~2", size: 1 })).toBe(true)
  expect([await guard.inDoubt(), await readdir(join(dir, "guard"))]).toEqual([
    false,
    ["0000000000000001", "0000000000000002"]
  ])
})

test("an accepted guard continues to sign; a marker for an older state is ignored, a garbled one is not", async () => {
  const { guard } = await openFolder({ dir })
  await installGuardState(dir, state)
  expect(await acceptGuardState(dir)).toEqual(state)
  expect(await acceptGuardState(dir), "once").toBeNull()
  expect(await guard.advance(state, { ...state, size: 8 })).toBe(true)
  await writeFile(join(dir, "guard", "from-backup"), formatGuardState(state))
  expect(await guardInDoubt(dir)).toBe(false)
  await writeFile(join(dir, "guard", "from-backup"), "garbled")
  expect(await guardInDoubt(dir), "what cannot be read may be meant").toBe(true)
})

test("an installed guard can be removed again, unless it was accepted since", async () => {
  await installGuardState(dir, state)
  await removeGuardState(dir, state)
  expect(await readdir(join(dir, "guard"))).toEqual([])
  await installGuardState(dir, state)
  await acceptGuardState(dir)
  await removeGuardState(dir, state)
  expect(await readGuardState(dir)).toEqual(state)
})
