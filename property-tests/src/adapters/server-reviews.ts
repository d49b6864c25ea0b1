/** A real server for the hold cases. */
import { openGovernedWorld } from "./governed-world.ts"
import type { ReviewWorld } from "./hold-cases.ts"

/** Opens the server. A reviewer answers who is neither the owner, nor an author, nor the one that requested. */
export const openServerReviews = async (): Promise<ReviewWorld> => {
  const world = await openGovernedWorld()
  const { http } = world
  const token = await http.token("reviewer", "*", "the reviewer")
  return {
    agent: () => world.agent(),
    again: world.again,
    openReviews: async ({ id }) => {
      const got = await http.send("GET", `/api/v1/bound/reviews?status=open&agent_id=${id}`, { token })
      if (got.status !== 200) throw new Error(`The reviews could not be listed: ${got.status} ${got.text}`)
      return (got.json as ReadonlyArray<{ readonly id: string }>).map((review) => review.id).toReversed()
    },
    resolve: (reviewId, resolution) =>
      world.post(`/bound/reviews/${reviewId}/resolve`, { resolution, reason: "a test" }, token),
    halt: world.halt,
    outcomes: world.outcomes,
    rest: world.rest,
    close: world.close
  }
}
