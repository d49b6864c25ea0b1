import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Guard, type GuardApi, guardChoice, keysLayerOf, sameState, type SignedState } from "@flyball/core"
import { StorageUnavailable } from "@flyball/core/storage"
import { Context, Effect, Layer } from "effect"
import { afterEach, beforeEach, expect, test } from "vitest"
import { dataFolder, dataFolderVkey } from "./data-folder.ts"
import { installGuardState, readGuardState } from "./guard-backup.ts"

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "flyball-"))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const origin = "flyball.example/acme"
const state = (size: number, name = origin): SignedState => ({ origin: name, size, rootHex: "ab".repeat(32) })

/** A guard outside of every folder, whose place may be away. */
const outside = () => {
  const now: { held: SignedState | null; isAway: boolean } = { held: null, isAway: false }
  const here = <A>(act: () => A): Effect.Effect<A, StorageUnavailable> =>
    Effect.suspend(() =>
      now.isAway ? Effect.fail(new StorageUnavailable({ reason: "away", wrote: "no" })) : Effect.succeed(act())
    )
  const api: GuardApi = {
    read: here(() => now.held),
    inDoubt: here(() => false),
    advance: (from, to) =>
      here(() => {
        if (sameState(now.held, to)) return true
        if (!sameState(now.held, from)) return false
        now.held = to
        return true
      })
  }
  return { now, choice: guardChoice("test", Layer.succeed(Guard, Guard.of(api))) }
}

const opened = (dir: string, guard?: ReturnType<typeof outside>["choice"]): Promise<GuardApi> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.map(
        Layer.build(keysLayerOf(dataFolder({ dir, origin, ...(guard === undefined ? {} : { guard }) }))),
        (context) => Context.get(context, Guard)
      )
    )
  )
const run = Effect.runPromise
const files = (dir: string): Promise<ReadonlyArray<string>> => readdir(join(dir, "guard"))

test("folders that share a guard see the same state, and store none of their own", async () => {
  const { choice, now } = outside()
  const [one, two] = [await opened(join(home, "one"), choice), await opened(join(home, "two"), choice)]
  expect(await run(one.advance(null, state(3)))).toBe(true)
  expect(await run(two.read)).toEqual(state(3))
  expect(await run(two.advance(null, state(4)))).toBe(false)
  expect(await run(two.advance(state(3), state(4)))).toBe(true)
  expect([now.held, await files(join(home, "one")), await files(join(home, "two"))]).toEqual([state(4), [], []])
})

test("a folder that has signed moves its state to the shared guard", async () => {
  const dir = join(home, "one")
  await run((await opened(dir)).advance(null, state(3)))
  const { choice, now } = outside()
  const guard = await opened(dir, choice)
  expect([await run(guard.read), now.held], "reading moves nothing").toEqual([state(3), null])
  expect([await run(guard.advance(null, state(4))), now.held]).toEqual([false, null])
  expect(await run(guard.advance(state(3), state(4)))).toBe(true)
  expect([now.held, await files(dir)]).toEqual([state(4), []])
})

test("the folder's older state is ignored when the shared guard is ahead", async () => {
  const dir = join(home, "one")
  await run((await opened(dir)).advance(null, state(3)))
  const { choice, now } = outside()
  now.held = state(9)
  const guard = await opened(dir, choice)
  expect(await run(guard.read)).toEqual(state(9))
  expect(await run(guard.advance(state(3), state(10)))).toBe(false)
  expect(await run(guard.advance(state(9), state(10)))).toBe(true)
  expect(await files(dir)).toEqual([])
})

test("a guard from a backup in the folder refuses to sign for its chain", async () => {
  const dir = join(home, "one")
  await dataFolderVkey({ dir, origin })
  await installGuardState(dir, state(3))
  const { choice, now } = outside()
  const guard = await opened(dir, choice)
  expect(await run(guard.inDoubt!)).toBe(true)
  await expect(run(guard.advance(state(3), state(4)))).rejects.toThrow(/this is a backup's guard/)
  expect(now.held).toBeNull()
  expect(await run(guard.advance(state(3), state(1, `${origin}~2`)))).toBe(true)
  expect([now.held, await readGuardState(dir)]).toEqual([state(1, `${origin}~2`), null])
})

test("the folder's key counts as used once the shared guard holds a signature for its chain", async () => {
  const { choice, now } = outside()
  const guard = await opened(join(home, "one"), choice)
  expect(await run(guard.mayBegin!)).toBe(true)
  now.held = state(3, "flyball.example/another")
  await run(guard.read)
  expect(await run(guard.mayBegin!), "of another chain").toBe(true)
  now.held = state(3)
  await run(guard.read)
  now.held = null
  expect(await run(guard.mayBegin!)).toBe(false)
})

test("while the shared guard is unavailable, the folder's own guard does not answer for it", async () => {
  const dir = join(home, "one")
  await run((await opened(dir)).advance(null, state(3)))
  const { choice, now } = outside()
  const guard = await opened(dir, choice)
  now.isAway = true
  await expect(run(guard.read)).rejects.toThrow(/away/)
  await expect(run(guard.inDoubt!)).rejects.toThrow(/away/)
  await expect(run(guard.advance(state(3), state(4)))).rejects.toThrow(/away/)
  now.isAway = false
  expect(await run(guard.read)).toEqual(state(3))
})

test("a value that is no guard is refused with a sentence", async () => {
  const guard = "postgres://u:hunter2@h/d" as unknown as ReturnType<typeof outside>["choice"]
  await expect(opened(join(home, "one"), guard)).rejects.toThrow(/guard takes what postgresGuard\(\{ url \}\) answers/)
})
