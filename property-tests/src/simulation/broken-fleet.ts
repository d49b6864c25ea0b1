/** Worlds of fleets and documents that are broken on purpose. */
import { TRACKS, VEHICLES } from "../../../packages/platform/src/tracking/document.ts"
import { type BrokenWorld, withStorage } from "./broken-world.ts"
import { tracked } from "./options.ts"

/** Each for a checker. */
export const brokenFleet: ReadonlyArray<BrokenWorld> = [
  {
    what: "a store that puts the positions of one call over those of another",
    foundBy: "tracks",
    says: /was acknowledged, and is gone/,
    options: tracked,
    ports: () =>
      withStorage(({ commit }) => ({
        commit: ({ puts = [], ...change }) =>
          commit({
            ...change,
            puts: puts.map((put) =>
              put.expectedVersion !== 0 && [TRACKS, VEHICLES].includes(put.collection)
                ? { ...put, expectedVersion: null }
                : put
            )
          })
      }))
  },
  {
    what: "a store that emits what a vehicle entered twice",
    foundBy: "tracks",
    says: /has entered entered/,
    options: tracked,
    ports: () =>
      withStorage(({ commit }) => ({
        commit: ({ events = [], ...change }) =>
          commit({
            ...change,
            events: events.flatMap((event) => (event.type.startsWith("fleet.") ? [event, event] : [event]))
          })
      }))
  }
]
