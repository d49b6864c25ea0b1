/** Whose turn it is: which of the deliveries that are due are claimed, and in what order. Pure; Postgres says the same in SQL, and one storage case holds them together. */
import { compareText } from "../text.ts"

/** What one endpoint has to offer: together no more than may still be in flight to it, oldest first. */
export interface Lane<A> {
  readonly endpointId: string
  /** When it was served last, as a number that grows; 0: never. */
  readonly turn: number
  readonly firsts: ReadonlyArray<A>
  readonly retries: ReadonlyArray<A>
}

/** What is taken, in order, and the new turns of the endpoints that it belongs to. */
export interface Turns<A> {
  readonly taken: ReadonlyArray<A>
  readonly turns: ReadonlyMap<string, number>
}

/**
 * Takes at most `limit`: first attempts before retries, one of each endpoint in each round, beginning with the endpoint that was served longest ago.
 *
 * `lastTurn` is the highest turn of any endpoint, those without anything to offer included.
 */
export const takeTurns = <A>(lanes: ReadonlyArray<Lane<A>>, lastTurn: number, limit: number): Turns<A> => {
  const taken: Array<A> = []
  const turns = new Map<string, number>()
  const round = (due: ReadonlyArray<Lane<A>>, offers: (lane: Lane<A>) => ReadonlyArray<A>): void => {
    for (let rank = 0, left = due; left.length > 0 && taken.length < limit; rank++) {
      left = left.filter((lane) => rank < offers(lane).length)
      for (const lane of left) {
        if (taken.length === limit) return
        taken.push(offers(lane)[rank]!)
        turns.set(lane.endpointId, lastTurn + taken.length)
      }
    }
  }
  const inOrder = lanes.toSorted((a, b) => a.turn - b.turn || compareText(a.endpointId, b.endpointId))
  round(inOrder, ({ firsts }) => firsts)
  round(inOrder, ({ retries }) => retries)
  return { taken, turns }
}
