import { layerOf, Storage, type StorageApi, StorageUnavailable } from "@flyball/core/storage"
import { postgresStorage } from "@flyball/storage-sql"
import { freshDatabase, openDatabase } from "@flyball/testkit/postgres"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { honestCommits } from "./honest-commits.ts"

const genesis = { expectEmpty: true, records: [{ kind: "chain.genesis", body: {}, parts: [], agentId: null }] }
const noWord = new StorageUnavailable({ reason: "a test", wrote: "no" })

/** Findings about a store that answers its first commit in this way. */
const foundOf = async (answer: (real: StorageApi) => StorageApi["commit"]): Promise<ReadonlyArray<string>> => {
  const { drop, url } = await freshDatabase(process.env["FLYBALL_TEST_PG_URL"]!)
  const database = await openDatabase(url)
  const problems: Array<string> = []
  try {
    await Effect.runPromise(
      Effect.gen(function* () {
        const real = yield* Storage
        const storage = honestCommits({ ...real, commit: answer(real) }, database, "flyball", problems)
        yield* Effect.ignore(storage.commit(genesis))
        yield* Effect.ignore(
          storage.commit({ puts: [{ collection: "things", id: "a", expectedVersion: 0, body: {} }] })
        )
      }).pipe(Effect.provide(layerOf(postgresStorage({ url }))))
    )
    return problems
  } finally {
    await database.close()
    await drop()
  }
}

describe('checking a "nothing was written" against the database', () => {
  it("finds a commit that was written, at once or late, and nothing when the claim is true", async () => {
    assert.lengthOf(await foundOf(({ commit }) => commit), 0)
    assert.lengthOf(await foundOf(() => () => Effect.fail(noWord)), 0)
    assert.match(
      (
        await foundOf(
          ({ commit }) =>
            (change) =>
              Effect.andThen(Effect.ignore(commit(change)), Effect.fail(noWord))
        )
      ).join(),
      /said that nothing was written/
    )
    // It lands when the next one is on its way.
    let late: Effect.Effect<unknown> = Effect.void
    const found = await foundOf(({ asOf, commit }) => (change) => {
      const before = late
      late = Effect.ignore(commit(change))
      return Effect.andThen(before, Effect.andThen(Effect.ignore(asOf), Effect.fail(noWord)))
    })
    assert.isAbove(found.length, 0)
  })
})
