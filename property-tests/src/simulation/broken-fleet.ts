/** Worlds of fleets and documents that are broken on purpose. */
import { ROUTE_PLANS } from "@flyball/core"
import type { DocumentPut } from "@flyball/core/storage"
import { Effect } from "effect"
import { TRACKS, VEHICLES } from "../../../packages/platform/src/tracking/document.ts"
import { type BrokenWorld, withCommit, withStorage } from "./broken-world.ts"
import { routed, tracked } from "./options.ts"

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
  },
  {
    what: "a store that forgets which plans are due",
    foundBy: "plans",
    says: /is still (queued|processing)/,
    options: routed,
    ports: () =>
      withStorage(({ commit }) => ({
        commit: ({ puts = [], ...change }) =>
          commit({ ...change, puts: puts.map(({ keys, ...put }) => ({ ...put, keys: withoutDue(put, keys) })) })
      }))
  },
  {
    what: "a store that keeps other routes than it is given",
    foundBy: "plans",
    says: /are not those of its digest/,
    options: routed,
    ports: () =>
      withCommit("route_plan.completed", (storage, { records = [], ...change }) =>
        storage.commit({
          ...change,
          records: records.map((record) => ({
            ...record,
            parts: record.parts.map(({ bytes, name }) => ({ name, bytes: name === "plan" ? costlier(bytes) : bytes }))
          }))
        })
      )
  },
  {
    what: "a store that dispatches a plan whose dispatch is on record",
    foundBy: "plans",
    says: /is dispatched \d times by/,
    options: routed,
    ports: () =>
      withCommit("route_plan.dispatched", (storage, change, count) =>
        count % 3 !== 0
          ? storage.commit(change)
          : Effect.andThen(storage.commit({ records: change.records! }), storage.commit(change))
      )
  }
]

/** The keys of a document, without the one that its end is found by. */
const withoutDue = ({ collection }: DocumentPut, keys: DocumentPut["keys"] = {}) =>
  Object.fromEntries(Object.entries(keys).filter(([name]) => collection !== ROUTE_PLANS || name !== "due"))

/** The bytes of a plan that states another cost. */
const costlier = (bytes: Uint8Array): Uint8Array => {
  const plan = JSON.parse(new TextDecoder().decode(bytes)) as { readonly cost: number }
  return new TextEncoder().encode(JSON.stringify({ ...plan, cost: plan.cost + 1 }))
}
