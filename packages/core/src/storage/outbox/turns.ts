/**
 * Chooses which due deliveries are claimed, and in what order. Pure; Postgres says the same
 * in SQL, and one storage case holds them together.
 */
import { compareText } from "../../foundation/text.ts"

/** Due deliveries of one endpoint: no more than may still be in flight to it. */
export interface Lane<A> {
  readonly endpointId: string
  /** When it was served last, as a number that grows; 0: never. */
  readonly turn: number
  /**
   * First attempts and retries alike, that which is due longest first, then by sequence: so nothing waits for ever
   * behind what came later.
   */
  readonly due: ReadonlyArray<A>
}

/** The deliveries taken, in order, and the new turns of their endpoints. */
export interface Turns<A> {
  readonly taken: ReadonlyArray<A>
  readonly turns: ReadonlyMap<string, number>
}

/**
 * Takes at most `limit`: one of each endpoint in each round, beginning with the endpoint that was served longest ago.
 * Within a round first attempts go before retries.
 *
 * Who is served does not depend on what it is owed: an endpoint whose oldest is a retry would never have its turn while
 * there are more others than `limit` has places for. `lastTurn` is the highest turn of any endpoint, those without
 * anything to offer included. Spec: decision 0019.
 */
export const takeTurns = <A>(
  lanes: ReadonlyArray<Lane<A>>,
  lastTurn: number,
  limit: number,
  isRetry: (one: A) => boolean
): Turns<A> => {
  const taken: Array<A> = []
  const turns = new Map<string, number>()
  let left = lanes.toSorted((a, b) => a.turn - b.turn || compareText(a.endpointId, b.endpointId))
  for (let rank = 0; taken.length < limit; rank++) {
    left = left.filter(({ due }) => rank < due.length)
    if (left.length === 0) break
    const served = left.slice(0, limit - taken.length)
    for (const { due, endpointId } of [
      ...served.filter(({ due }) => !isRetry(due[rank]!)),
      ...served.filter(({ due }) => isRetry(due[rank]!))
    ]) {
      taken.push(due[rank]!)
      turns.set(endpointId, lastTurn + taken.length)
    }
  }
  return { taken, turns }
}
