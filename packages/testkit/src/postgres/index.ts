/** A real Postgres for tests: started here, or given by `FLYBALL_TEST_PG_URL`. */
export type { FreshDatabase, OpenDatabase } from "./database.ts"
export { freshDatabase, openDatabase } from "./database.ts"
export { givenDatabase, type TestHooks } from "./given-database.ts"
export type { DemotablePostgres, RunningPostgres } from "./start.ts"
export { startDemotablePostgres, startPostgres } from "./start.ts"
