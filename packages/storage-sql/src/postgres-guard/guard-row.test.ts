import { guardLayerOf, Guard, type SignedState } from "@flyball/core/storage"
import { freshDatabase, openDatabase } from "@flyball/testkit/postgres"
import { Context, Effect, Layer } from "effect"
import type { Scope } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { givenDatabase } from "../postgres/testing/given-database.ts"
import { silentProxy } from "../postgres/testing/silent-proxy.ts"
import { openGuardRow, postgresGuard, withPostgresGuard } from "./guard-choice.ts"
import type { GuardRow } from "./guard-row.ts"
import { guardOptionsProblem, guardPlace } from "./options.ts"

const server = givenDatabase()
let database: Awaited<ReturnType<typeof freshDatabase>>
beforeEach(async () => {
  database = await freshDatabase(server.url)
})
afterEach(() => database.drop())

const state = (size: number, branch = "a", origin = "flyball.example/test"): SignedState => ({
  origin,
  size,
  rootHex: branch.repeat(64)
})
const run = <A>(body: Effect.Effect<A, unknown, Scope.Scope>): Promise<A> => Effect.runPromise(Effect.scoped(body))
const guard = <A>(use: (guard: GuardRow) => Effect.Effect<A, unknown>): Promise<A> =>
  Effect.runPromise(withPostgresGuard({ url: database.url }, use))
const reason = (effect: Effect.Effect<unknown, unknown>): Effect.Effect<string> =>
  Effect.match(effect, { onFailure: (fault) => `${fault}`, onSuccess: (value) => `succeeded with ${value}` })

describe("a guard on Postgres", () => {
  it("keeps the state that it was advanced to, even when it is reopened", async () => {
    const answers = await guard(({ advance, read }) =>
      Effect.gen(function* () {
        const before = yield* read
        return [
          before,
          yield* advance(null, state(3)),
          yield* advance(null, state(4)),
          yield* advance(state(2), state(4)),
          yield* advance(state(3), state(4)),
          yield* advance(state(3), state(4)),
          yield* advance(null, state(4))
        ]
      })
    )
    assert.deepEqual(answers, [null, true, false, false, true, true, true])
    assert.deepEqual(await guard(({ read }) => read), state(4))
  })

  it("is created once by many processes that start at once", async () => {
    const opened = await Promise.all(Array.from({ length: 6 }, () => guard(({ read }) => read)))
    assert.deepEqual(
      opened,
      Array.from({ length: 6 }, () => null)
    )
  })

  it("lets only one of several signers advance from the same state", async () => {
    const granted = await run(
      Effect.gen(function* () {
        const signers = yield* Effect.all(Array.from({ length: 4 }, () => openGuardRow({ url: database.url })))
        const wins: Array<number> = []
        for (let size = 1; size <= 25; size++) {
          const from = size === 1 ? null : yield* signers[0]!.read
          const answers = yield* Effect.all(
            signers.map(({ advance }, index) => advance(from, state(size, String(index)))),
            { concurrency: "unbounded" }
          )
          wins.push(answers.filter(Boolean).length)
          assert.deepEqual(yield* signers[1]!.read, state(size, String(answers.indexOf(true))))
        }
        return wins
      })
    )
    assert.deepEqual(
      granted,
      Array.from({ length: 25 }, () => 1)
    )
  })

  it("provides the Guard service of a keys choice", async () => {
    const held = await run(
      Effect.gen(function* () {
        const context = yield* Layer.build(guardLayerOf(postgresGuard({ url: database.url, schema: "chain_b" })))
        const service = Context.get(context, Guard)
        yield* service.advance(null, state(2))
        return yield* service.read
      })
    )
    assert.deepEqual(held, state(2))
    assert.isNull(await guard(({ read }) => read), "each schema is a guard of its own")
  })

  it("opened for reading creates no table, and reads as an empty guard", async () => {
    const reading = { url: database.url, readOnly: true }
    assert.deepEqual(
      await Effect.runPromise(withPostgresGuard(reading, (row) => Effect.all([row.read, row.inDoubt]))),
      [null, false]
    )
    const { ask, close } = await openDatabase(database.url)
    assert.deepEqual(await ask("SELECT 1 FROM pg_namespace WHERE nspname = 'flyball_guard'"), [])
    await close()
    const refused = await Effect.runPromise(
      withPostgresGuard(reading, ({ advance }) => reason(advance(null, state(1))))
    )
    assert.match(refused, /the signing guard in the schema flyball_guard of the database \w+ at \S+: Postgres answered/)
  })

  it("refuses a row that is no guard state", async () => {
    await guard(({ advance }) => advance(null, state(3)))
    const { ask, close } = await openDatabase(database.url)
    await ask("UPDATE flyball_guard.signed SET origin = 'with a space'")
    await close()
    assert.match(await guard(({ read }) => reason(read)), /its row is not what the guard wrote/)
  })
})

describe("the guard of a backup", () => {
  it("is installed only where none exists, and never replaces one", async () => {
    assert.isTrue(await guard(({ install }) => install(state(7))))
    assert.isTrue(await guard(({ install }) => install(state(7))), "again is the same")
    assert.isFalse(await guard(({ install }) => install(state(8))))
    assert.deepEqual(await guard(({ inDoubt, read }) => Effect.all([read, inDoubt])), [state(7), true])
  })

  it("refuses to sign for its chain until an operator accepts it, but allows a new chain", async () => {
    await guard(({ install }) => install(state(7)))
    assert.match(await guard(({ advance }) => reason(advance(state(7), state(8)))), /this is a backup's guard/)
    const next = state(1, "b", "flyball.example/test~2")
    assert.isTrue(await guard(({ advance }) => advance(state(7), next)))
    assert.deepEqual(await guard(({ inDoubt, read }) => Effect.all([read, inDoubt])), [next, false])
  })

  it("continues to sign once accepted, and is accepted only once", async () => {
    await guard(({ install }) => install(state(7)))
    assert.deepEqual(await guard(({ accept }) => accept), state(7))
    assert.isNull(await guard(({ accept }) => accept))
    assert.isTrue(await guard(({ advance }) => advance(state(7), state(8))))
  })

  it("can be removed again, unless it has signed since", async () => {
    await guard(({ install }) => install(state(7)))
    await guard(({ takeBack }) => takeBack(state(8)))
    assert.deepEqual(await guard(({ read }) => read), state(7))
    await guard(({ takeBack }) => takeBack(state(7)))
    assert.isNull(await guard(({ read }) => read))
    await guard(({ advance }) => advance(null, state(7)))
    await guard(({ takeBack }) => takeBack(state(7)))
    assert.deepEqual(await guard(({ read }) => read), state(7))
  })
})

describe("a guard whose database is unreachable", () => {
  it("fails with one sentence, and answers again when the database is back", { timeout: 60_000 }, async () => {
    const [away, held] = await run(
      Effect.gen(function* () {
        const proxy = yield* silentProxy(database.url)
        const row = yield* openGuardRow({ url: proxy.url })
        yield* row.advance(null, state(1))
        // The server hears it, and its answer never arrives: the signer cannot know whether the guard moved.
        proxy.silenceAt("server", "UPDATE 1")
        const lost = yield* reason(row.advance(state(1), state(2)))
        proxy.heal()
        return [lost, yield* row.read] as const
      })
    )
    assert.match(away, /StorageUnavailable.*the signing guard in the schema flyball_guard .*did not answer/s)
    assert.deepEqual(held, state(2))
    assert.isTrue(await guard(({ advance }) => advance(state(1), state(2))), "repeated, it is done")
  })
})

describe("the options of a guard on Postgres", () => {
  it.each<[string, unknown, RegExp | null]>([
    ["an address", { url: "postgres://u:p@h/d" }, null],
    ["no object", "postgres://u:hunter2@h/d", /^postgresGuard takes an object such as .* not a text$/],
    ["no address", { url: "mysql://h/d" }, /^url is the address of a database/],
    ["a schema that is no name", { url: "postgres://h/d", schema: "a-b" }, /^the name of the schema does not match/],
    ["the store's schema", { url: "postgres://h/d", schema: "flyball" }, /^the schema flyball is the store's/]
  ])("%s", (_name, options, expected) => {
    const problem = guardOptionsProblem(options as Parameters<typeof guardOptionsProblem>[0])
    if (expected === null) assert.isNull(problem)
    else assert.match(problem ?? "", expected)
    assert.notInclude(problem ?? "", "hunter2")
  })

  it("are described without the password", () => {
    assert.strictEqual(
      guardPlace({ url: "postgres://u:hunter2@h:5433/d?sslmode=require" }),
      "the schema flyball_guard of the database d at h:5433"
    )
  })
})
