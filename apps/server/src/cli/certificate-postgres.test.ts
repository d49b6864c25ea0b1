/** `flyball certificate stop` beside a server on Postgres. */
import { givenDatabase } from "@flyball/testkit/postgres"
import { afterAll, beforeAll, describe, it } from "vitest"
import { certifiedStop } from "./testing/certified-stop.ts"
import { operator, type Operator } from "./testing/commands.ts"

let me: Operator
const database = givenDatabase({ beforeAll, afterAll })
beforeAll(() => {
  me = operator()
})
afterAll(() => me.leave())

describe("flyball certificate stop on Postgres", { timeout: 240_000 }, () => {
  it("writes the pack from which the verifier makes the same certificate, before and after the release", () =>
    certifiedStop(me, { FLYBALL_DATABASE_URL: database.url }))
})
