/** A script over Postgres on lines that are cut at an exchange, once and twice, and while the server ends sessions. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ConnectionWalked, type ConnectionWalks, connectionWalks } from "./connection-walk.ts"
import { cutsOf, pairsOf } from "./plans.ts"
import { runs } from "../runs.ts"

const SEED = 20_261_121
/** One in so many of all cuts, and so many pairs of them. The others: `npm run slow -- connections`. */
const [ONE_IN, PAIRS] = [runs(129, 43), runs(3, 6)]
const ENDED = runs(6, 20)

let walks: ConnectionWalks
let whole: ConnectionWalked
beforeAll(async () => {
  walks = await connectionWalks(process.env["FLYBALL_TEST_PG_URL"]!)
  whole = await walks.past([])
})
afterAll(() => walks.close())

describe("a script over Postgres", () => {
  it("succeeds without faults", () => {
    assert.isAbove(whole.exchanges, 100)
    assert.deepStrictEqual([whole.struck, whole.again], [[], { no: 0, unknown: 0 }])
  })

  it(
    "succeeds when the connection is cut before a query or after its response (sampled)",
    { timeout: 240_000 },
    async () => {
      const kinds = new Set<string>()
      const again = { no: 0, unknown: 0 }
      for (const cut of cutsOf(whole.exchanges).filter((_, index) => index % ONE_IN === 0)) {
        const walked = await walks.past([cut])
        for (const { kind } of walked.struck) kinds.add(kind)
        again.no += walked.again.no
        again.unknown += walked.again.unknown
      }
      assert.strictEqual(kinds.size, 2)
      assert.isAbove(again.no + again.unknown, 0)
    }
  )

  it("succeeds when the connection is cut twice (sampled)", { timeout: 240_000 }, async () => {
    let struck = 0
    for (const pair of pairsOf(whole.exchanges, PAIRS, SEED)) struck += (await walks.past(pair)).struck.length
    assert.isAbove(struck, PAIRS)
  })

  it("succeeds while the server ends sessions at random", { timeout: 240_000 }, async () => {
    assert.isAtLeast((await walks.whileEnding(ENDED)).ended, ENDED)
  })
})
