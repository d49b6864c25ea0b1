/** `flyball reviews`: the reviews that wait for people, oldest first. Reads only. */
import type { Review } from "@flyball/contract"
import { Agents, Reviews, type ReviewStep } from "@flyball/core"
import { Effect } from "effect"
import type { HostRuntime } from "../host/open-host.ts"
import { readArguments } from "./arguments.ts"
import { command, counted, exitStatus } from "./command.ts"
import { withHost } from "./with-host.ts"

/** Reviews that are printed; the rest is counted. `--json` has all. */
const LISTED = 50

/** Prints them, with what each still needs. */
export const run = command("reviews", async (args) => {
  const { values } = readArguments(args, { json: { type: "boolean" } })
  return withHost({ readOnly: true, small: true, keyless: true }, async (runtime) => {
    const reviews = await waiting(runtime)
    console.log(values.json === true ? JSON.stringify(reviews, null, 2) : (await lines(runtime, reviews)).join("\n"))
    return exitStatus.ok
  })
})

/** Reviews that are open or claimed, in the order in which they opened. */
const waiting = (runtime: HostRuntime): Promise<ReadonlyArray<Review>> =>
  runtime.runPromise(
    Effect.gen(function* () {
      const reviews = yield* Reviews
      const found: Array<Review> = []
      for (let place = yield* reviews.placeBehind(null); place.live.length > 0;) {
        const step: ReviewStep = yield* reviews.changes(place, 0)
        place = step.place
        for (const { review } of step.changes)
          if (review.status === "open" || review.status === "claimed") found.push(review)
      }
      return found
    })
  )

const lines = async (runtime: HostRuntime, reviews: ReadonlyArray<Review>): Promise<ReadonlyArray<string>> => {
  if (reviews.length === 0) return ["No review waits for people."]
  const named = new Map<string, string>()
  for (const { agent_id: id } of reviews.slice(0, LISTED)) if (!named.has(id)) named.set(id, await nameOf(runtime, id))
  const more = reviews.length - LISTED
  return [
    `${counted(reviews.length, "review")} ${reviews.length === 1 ? "waits" : "wait"} for people, oldest first:`,
    ...reviews.slice(0, LISTED).flatMap((review) => reviewLines(review, named.get(review.agent_id)!)),
    ...(more > 0 ? [`and ${more} more: --json prints all`] : [])
  ]
}

const nameOf = (runtime: HostRuntime, id: string): Promise<string> =>
  runtime.runPromise(
    Agents.use((agents) => agents.get(id)).pipe(
      Effect.map(({ name }) => `${name} (${id})`),
      Effect.catchTag("AgentNotFound", () => Effect.succeed(id))
    )
  )

/** A review: what waits, since when and until when, and for whom. */
const reviewLines = (review: Review, agent: string): ReadonlyArray<string> => {
  const { action, claimed_by: claimedBy, expires_at: expires, lease_until: lease, needs, opened_at: opened } = review
  const missing = needs.filter(({ is_met: isMet }) => !isMet)
  const people = missing.map(({ approvals, role }) => `${approvals} of role ${role ?? "reviewer or above"}`).join(", ")
  return [
    `${review.id}: ${action === null ? "an action" : JSON.stringify(action)} of ${agent}, by the rule ` +
      review.matched_rule,
    `  since ${opened}, expires ${expires}`,
    `  approvals: ${review.approvals_given} given, needs ${people}` +
      (review.two_person ? ", never the agent's owner" : "") +
      (claimedBy === null ? "" : `; claimed by ${claimedBy} until ${lease}`)
  ]
}
