import fc from "fast-check"
import { expect, test } from "vitest"
import type { SignedState } from "@flyball/core"
import { FolderProblem } from "./folder-problem.ts"
import { type GuardFolder, guardFiles } from "./guard-files.ts"
import { formatGuardState } from "./guard-state.ts"

/** A folder in memory, whose steps `pause` may delay or end. */
const folderOf = (files: Map<string, Uint8Array>, pause: () => Promise<void> = async () => {}): GuardFolder => ({
  path: "guard",
  list: () => pause().then(() => [...files.keys()]),
  read: (name) => pause().then(() => files.get(name) ?? null),
  create: async (name, bytes) => {
    await pause()
    if (files.has(name)) return false
    files.set(name, bytes)
    // The link is made and its maker may die before it hears of it.
    await pause()
    return true
  },
  remove: (name) => pause().then(() => void files.delete(name)),
  sync: pause
})

const state = (size: number, branch = "a"): SignedState => ({
  origin: "flyball.example/test",
  size,
  rootHex: branch.repeat(64)
})

test("a guard that is advanced holds the new state", async () => {
  const files = new Map<string, Uint8Array>()
  const guard = guardFiles(folderOf(files))
  expect(await guard.read()).toBeNull()
  expect(await guard.advance(null, state(3))).toBe(true)
  expect(await guard.read()).toEqual(state(3))
  expect(await guard.advance(null, state(4))).toBe(false)
  expect(await guard.advance(state(2), state(4))).toBe(false)
  expect(await guard.advance(state(3), state(4))).toBe(true)
  expect(await guard.advance(state(3), state(4)), "again, as after a crash").toBe(true)
  expect(await guard.read()).toEqual(state(4))
})

test("old files go, the highest never", async () => {
  const files = new Map<string, Uint8Array>()
  const guard = guardFiles(folderOf(files))
  for (let size = 1; size <= 30; size++)
    expect(await guard.advance(size === 1 ? null : state(size - 1), state(size))).toBe(true)
  expect([...files.keys()].sort()[0]).toBe("0000000000000022")
  expect(files.has("0000000000000030")).toBe(true)
  expect(await guard.read()).toEqual(state(30))
})

test("a holder that slept while others went past it and tidied up loses", async () => {
  const files = new Map<string, Uint8Array>()
  await guardFiles(folderOf(files)).advance(null, state(1))
  let wake = (): void => {}
  const asleep = new Promise<void>((resolve) => {
    wake = resolve
  })
  const folder = folderOf(files)
  let reached = (): void => {}
  const beforeCreate = new Promise<void>((resolve) => {
    reached = resolve
  })
  const slow = guardFiles({
    ...folder,
    create: (name, bytes) => {
      reached()
      return asleep.then(() => folder.create(name, bytes))
    }
  }).advance(state(1), state(2, "b"))
  await beforeCreate
  const others = guardFiles(folderOf(files))
  for (let size = 2; size <= 40; size++) await others.advance(state(size - 1), state(size))
  expect(files.has("0000000000000002"), "its number is free again").toBe(false)
  wake()
  expect(await slow).toBe(false)
  expect(await others.read()).toEqual(state(40))
})

test.each([
  ["a stranger's file", (files: Map<string, Uint8Array>) => files.set("notes.txt", new Uint8Array())],
  ["an empty file", (files: Map<string, Uint8Array>) => files.set("0000000000000002", new Uint8Array())],
  [
    "half a file",
    (files: Map<string, Uint8Array>) => files.set("0000000000000002", formatGuardState(state(9)).slice(0, 60))
  ],
  [
    "a file with one bit changed",
    (files: Map<string, Uint8Array>) => {
      const bytes = formatGuardState(state(9))
      // A hex digit that becomes another one: only the digest can tell.
      bytes[40]! ^= 2
      files.set("0000000000000002", bytes)
    }
  ]
])("%s in the folder is refused", async (_name, spoil) => {
  const files = new Map<string, Uint8Array>()
  const guard = guardFiles(folderOf(files))
  await guard.advance(null, state(3))
  spoil(files)
  await expect(guard.read()).rejects.toBeInstanceOf(FolderProblem)
  await expect(guard.advance(state(3), state(4))).rejects.toBeInstanceOf(FolderProblem)
})

test("what a killed process left half made is no state", async () => {
  const files = new Map([["tmp-00", new Uint8Array(3)]])
  expect(await guardFiles(folderOf(files)).read()).toBeNull()
})

/** Signs what a holder's own store says, as the checkpointer does: only on from a state that its store agrees with. */
const signAll = async (
  guard: ReturnType<typeof guardFiles>,
  branch: string,
  sizes: ReadonlyArray<number>,
  signed: Array<SignedState>
): Promise<void> => {
  for (const size of sizes) {
    const held = await guard.read()
    const next = state(size, branch)
    if (held !== null && (next.size < held.size || next.rootHex !== held.rootHex)) continue
    if (await guard.advance(held, next)) signed.push(next)
  }
}

test("two holders, stopped or killed between any two steps, never sign two roots for one size", async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 })
  const killAfter = fc.option(fc.integer({ min: 0, max: 12 }), { nil: Infinity })
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.tuple(sizes, sizes, sizes),
      fc.tuple(killAfter, killAfter, killAfter),
      async (s, wanted, kills) => {
        const files = new Map<string, Uint8Array>()
        const signed: Array<SignedState> = []
        const holder = (branch: string, index: 0 | 1 | 2): Promise<void> => {
          let steps = 0
          const pause = (): Promise<void> =>
            steps++ >= kills[index]
              ? Promise.reject(new Error("killed"))
              : s.schedule(Promise.resolve(), `${branch}${index}`)
          return signAll(guardFiles(folderOf(files, pause)), branch, wanted[index], signed).catch((error: Error) => {
            if (error.message !== "killed") throw error
          })
        }
        // Two on one store, one on a store that was put back and grew differently.
        const all = Promise.all([holder("a", 0), holder("b", 1), holder("a", 2)])
        await s.waitFor(all)
        expect(new Set(signed.map(({ rootHex }) => rootHex)).size, "one line of history").toBeLessThanOrEqual(1)
        const held = await guardFiles(folderOf(files)).read()
        for (const one of signed)
          expect(held === null ? -1 : held.size, "the guard is at or past every signature").toBeGreaterThanOrEqual(
            one.size
          )
      }
    ),
    { numRuns: 400, seed: 20_261_126 }
  )
})
