/** A database for the tests of one file. */
import { type FreshDatabase, freshDatabase } from "./database.ts"
import { type RunningPostgres, startPostgres } from "./start.ts"

/**
 * When a test framework begins and ends the tests of a file: its own `beforeAll` and `afterAll`, so that this package
 * needs none.
 */
export interface TestHooks {
  readonly beforeAll: (act: () => Promise<void>) => void
  readonly afterAll: (act: () => Promise<void>) => void
}

/** An empty database before the first test, gone after the last. Read `url` inside tests only. */
export const givenDatabase = ({ afterAll, beforeAll }: TestHooks): { readonly url: string } => {
  let server: RunningPostgres | undefined
  let database: FreshDatabase | undefined
  beforeAll(async () => {
    server = await startPostgres()
    database = await freshDatabase(server.url)
  })
  afterAll(async () => {
    await database?.drop()
    await server?.stop()
  })
  return {
    get url() {
      return database!.url
    }
  }
}
