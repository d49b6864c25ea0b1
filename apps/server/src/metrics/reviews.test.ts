// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { endpoints } from "@flyball/contract/http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { goodRequests } from "../http/http-requests.ts"
import { openWorld, type World } from "../http/http-world.ts"

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** The samples of the review queue, without their names' common beginning. */
const samples = async (): Promise<string> =>
  (await world.send("GET", "/metrics")).text.match(/^flyball_(?:open|oldest)_review.*$/gm)!.join("\n")

describe("metrics of the review queue", () => {
  it("count what waits, until somebody answers it", async () => {
    assert.strictEqual(await samples(), "flyball_open_reviews 0\nflyball_oldest_review_age_seconds 0")
    const good = await goodRequests(world)
    const { json, path } = await good(endpoints.find(({ id }) => id === "reviews.resolve")!)
    assert.match(await samples(), /^flyball_open_reviews 1\nflyball_oldest_review_age_seconds \d+(\.\d+)?$/)
    assert.strictEqual((await world.send("POST", path, { token: world.admin, json })).status, 200)
    assert.strictEqual(await samples(), "flyball_open_reviews 0\nflyball_oldest_review_age_seconds 0")
  })
})
