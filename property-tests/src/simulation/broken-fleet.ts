/** Worlds of fleets and documents that are broken on purpose. */
import { EXTRACTIONS, ROUTE_PLANS } from "@flyball/core"
import type { DocumentPut } from "@flyball/core/storage"
import { Effect } from "effect"
import { TRACKS, VEHICLES } from "../../../packages/platform/src/tracking/document.ts"
import { type BrokenWorld, withCommit, withStorage } from "./broken-world.ts"
import { extracted, routed, tracked } from "./options.ts"

/** Its search for what nobody ends finds nothing. */
const forgetful = withStorage(({ commit }) => ({
  commit: ({ puts = [], ...change }) =>
    commit({ ...change, puts: puts.map(({ keys, ...put }) => ({ ...put, keys: withoutDue(put, keys) })) })
}))

/** Broken worlds of fleets, each for a checker. */
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
    ports: () => forgetful
  },
  {
    what: "a store that forgets which documents are due",
    foundBy: "extractions",
    says: /is still (queued|processing)/,
    options: extracted,
    ports: () => forgetful
  },
  {
    what: "a store that gives back twice what a host lost",
    foundBy: "extractions",
    says: /units were given back/,
    options: extracted,
    ports: () =>
      withCommit("extraction.failed", (storage, { counts = [], ...change }) =>
        storage.commit({ ...change, counts: counts.map(({ add, name }) => ({ add: 2 * add, name })) })
      )
  },
  {
    what: "a store that keeps no record of an extraction that failed",
    foundBy: "extractions",
    says: /is failed, and has no end on record/,
    options: extracted,
    ports: () =>
      withCommit("extraction.failed", (storage, { records = [], ...change }) =>
        storage.commit({ ...change, records: records.filter(({ kind }) => kind !== "extraction.failed") })
      )
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

const ended: ReadonlySet<string> = new Set([EXTRACTIONS, ROUTE_PLANS])

/** The keys of a document, without the one that its end is found by. */
const withoutDue = ({ collection }: DocumentPut, keys: DocumentPut["keys"] = {}) =>
  Object.fromEntries(Object.entries(keys).filter(([name]) => !ended.has(collection) || name !== "due"))

/** The bytes of a plan that states another cost. */
const costlier = (bytes: Uint8Array): Uint8Array => {
  const plan = JSON.parse(new TextDecoder().decode(bytes)) as { readonly cost: number }
  return new TextEncoder().encode(JSON.stringify({ ...plan, cost: plan.cost + 1 }))
}
