/** The cases of the suite in which a person must approve a call: the same for each adapter, against any service. */
import type { AgentClient } from "@flyball/client"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import type { AdapterUnderTest, Session } from "./conformance.ts"
import { callOf, type Deeds, toolsOf } from "./deeds.ts"

/** A service whose refunds of 51 to 100 a person must approve. */
export interface ReviewWorld {
  readonly agent: () => Promise<AgentClient>
  /** The agent in another process; absent where the service remembers no process either. */
  readonly again?: (agent: AgentClient) => Promise<AgentClient>
  /** The open reviews of an agent, oldest first. */
  readonly openReviews: (agent: AgentClient) => Promise<ReadonlyArray<string>>
  readonly resolve: (reviewId: string, resolution: "approve" | "reject") => Promise<unknown>
  readonly halt: (agent: AgentClient) => Promise<unknown>
  /** The tool calls that were witnessed, as `action status`. */
  readonly outcomes: (agent: AgentClient) => Promise<ReadonlyArray<string>>
  readonly rest: () => Promise<void>
  readonly close: () => Promise<unknown>
}

/** Long enough that a hold never ends by itself in a test. Unit: milliseconds. */
const LONG_MS = 50_000

/** Runs the cases with an adapter. `service` names what they run against. */
export const describeHolds = (
  { isSerial = false, name, open }: AdapterUnderTest,
  service: string,
  openWorld: () => Promise<ReviewWorld>
): void => {
  let world: ReviewWorld
  const sessions: Array<Session> = []
  beforeAll(async () => void (world = await openWorld()))
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close?.()
    await world.rest()
  })
  afterAll(() => world.close())

  const started = async (holdMs: number, given?: AgentClient) => {
    const agent = given ?? (await world.agent())
    const deeds: Deeds = { ran: [], instead: new Map() }
    const session = await open({ agent, tools: toolsOf(deeds), holdMs })
    sessions.push(session)
    const shown = async (amount: number): Promise<string> => {
      const { answers, failure } = await session.turn([callOf("refund", { amount })])
      return failure ?? answers[0] ?? "the run ended without an answer"
    }
    const opened = async (): Promise<string> => {
      for (;;) {
        const [review] = await world.openReviews(agent)
        if (review !== undefined) return review
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
    }
    return { agent, deeds, opened, session, shown }
  }

  describe(`${name}: a call that a person must approve, with ${service}`, () => {
    it("waits for the approval, runs once, and is recorded once", async () => {
      const { agent, deeds, opened, shown } = await started(LONG_MS)
      const calling = shown(60)
      const review = await opened()
      assert.lengthOf(deeds.ran, 0)
      await world.resolve(review, "approve")
      assert.include(await calling, "refund done 60")
      assert.deepStrictEqual(deeds.ran, ["refund 60"])
      assert.deepStrictEqual(await world.outcomes(agent), ["refund ok"])
    })

    if (!isSerial)
      it("does not hold up its siblings", async () => {
        const { deeds, opened, session } = await started(LONG_MS)
        const turn = session.turn([callOf("refund", { amount: 60 }), callOf("lookup")])
        const review = await opened()
        while (deeds.ran.length === 0) await new Promise<void>((resolve) => setImmediate(resolve))
        assert.deepStrictEqual(deeds.ran, ["lookup"])
        await world.resolve(review, "approve")
        assert.include((await turn).answers[0]!, "refund done 60")
      })

    it("is pending when the hold ends, and only the same call continues once it is approved", async () => {
      const { deeds, opened, shown } = await started(5)
      assert.match(await shown(60), /pending rev_/)
      const review = await opened()
      assert.include(await shown(60), `pending ${review}`)
      await world.resolve(review, "approve")
      assert.match(await shown(61), /pending rev_/)
      assert.lengthOf(deeds.ran, 0)
      assert.include(await shown(60), "refund done 60")
      assert.match(await shown(60), /pending rev_/)
      assert.deepStrictEqual(deeds.ran, ["refund 60"])
    })

    it("continues in another process, which opens no second review", async () => {
      const first = await started(0)
      if (world.again === undefined) return assert.isUndefined(world.again)
      assert.match(await first.shown(60), /pending rev_/)
      const review = await first.opened()
      const second = await started(0, await world.again(first.agent))
      assert.include(await second.shown(60), `pending ${review}`)
      await world.resolve(review, "approve")
      const third = await started(0, await world.again(first.agent))
      assert.include(await third.shown(60), "refund done 60")
      assert.deepStrictEqual(third.deeds.ran, ["refund 60"])
      assert.match(await third.shown(60), /pending rev_/)
    })

    it("does not run when the person rejects it", async () => {
      const { agent, deeds, opened, shown } = await started(LONG_MS)
      const calling = shown(60)
      await world.resolve(await opened(), "reject")
      assert.match(await calling, /did not run/)
      assert.lengthOf(deeds.ran, 0)
      assert.deepStrictEqual(await world.outcomes(agent), ["refund denied"])
    })

    it("does not run when the agent is halted while it waits", async () => {
      const { agent, deeds, opened, shown } = await started(LONG_MS)
      const calling = shown(60)
      await opened()
      await world.halt(agent)
      await agent.kill.refresh()
      assert.notInclude(await calling, "refund done")
      assert.lengthOf(deeds.ran, 0)
    })
  })
}
