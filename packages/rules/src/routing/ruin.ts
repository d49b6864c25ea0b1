/**
 * Takes strings of neighbouring stops out of a few routes.
 *
 * - Source: Christiaens and Vanden Berghe, Slack Induction by String Removals for Vehicle Routing Problems,
 *   Transportation Science 54, 2020, section 5.2.
 */
import type { Generator32 } from "@flyball/statistics"
import { NEIGHBOURS } from "./model.ts"
import type { State } from "./state.ts"

/** Mean number of jobs taken out, and the longest string. */
const [MEAN_REMOVED, LONGEST_STRING] = [10, 10]

/** Of 2^32 strings, half keep a part in their middle, which grows as long as one in a hundred does not stop it. */
const [SPLITS, STOPS_GROWING] = [2 ** 31, 42_949_673]

/** Of 2^32 ruins, one in 32 is not bounded by the mean of routes: else no route longer than that is ever emptied. */
const ANY_LENGTH = 2 ** 27

/** Ruins the routes around a job. False: a route does not hold without what was taken out. */
export const ruin = (state: State, random: Generator32, around: number): boolean => {
  const { model } = state
  const { jobs, vehicles } = model
  let used = 0
  for (let kind = 0, from = 0; kind < model.kinds; kind++) {
    used += state.firstFree[kind]! - from
    from = state.lastOfKind[kind]! + 1
  }
  if (used === 0 || vehicles === 0) return true
  const mean = (jobs - state.pool.length) / used
  const longest = random.next() < ANY_LENGTH ? LONGEST_STRING : Math.max(1, Math.min(LONGEST_STRING, mean))
  const wanted = 1 + upTo(random, (4 * MEAN_REMOVED) / (1 + longest) - 1)
  const ruined: Array<number> = []
  for (let at = -1; at < NEIGHBOURS && ruined.length < wanted; at++) {
    const job = at < 0 ? around : state.neighbours[around * NEIGHBOURS + at]!
    if (job < 0) break
    const vehicle = state.route[job]!
    if (vehicle < 0 || ruined.includes(vehicle)) continue
    ruined.push(vehicle)
    const length = 1 + upTo(random, Math.min(longest, state.count[vehicle]!))
    removeString(state, random, job, length)
  }
  let holds = true
  for (const vehicle of ruined) if (!state.refresh(vehicle)) holds = false
  return holds
}

/** A whole number from 0 to a bound, the last one less likely where the bound is no whole number. */
const upTo = (random: Generator32, bound: number): number => Math.floor((random.next() / 2 ** 32) * bound)

/** Takes out a string of this length that has the job in it, or one with a part kept in its middle. */
const removeString = (state: State, random: Generator32, job: number, length: number): void => {
  const { jobs } = state.model
  const vehicle = state.route[job]!
  const count = state.count[vehicle]!
  let kept = 0
  if (length > 1 && length < count && random.next() < SPLITS) {
    kept = 1
    while (length + kept < count && random.next() > STOPS_GROWING) kept++
  }
  const span = length + kept
  let position = 0
  for (let node = state.prev[job]!; node < jobs; node = state.prev[node]!) position++
  const lowest = Math.max(0, position - span + 1)
  const start = lowest + random.below(Math.min(position, count - span) - lowest + 1)
  const keepFrom = kept === 0 ? span : 1 + random.below(length - 1)
  let node = job
  for (let at = position; at > start; at--) node = state.prev[node]!
  for (let at = 0; at < span; at++) {
    const next = state.next[node]!
    if (at < keepFrom || at >= keepFrom + kept) state.remove(node)
    node = next
  }
}
