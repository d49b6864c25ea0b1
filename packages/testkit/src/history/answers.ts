/** Converts a store's answers to plain data that can be compared. */
import type { ChangeSet, CommitReceipt, Conflict, Head, KeyRange, RecordQuery, StorageApi } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"
import type { Pick } from "./pick.ts"
import { onceIn, oneOf, several } from "./pick.ts"
import type { HistoryWorld } from "./world.ts"
import { awkwardTexts, cast } from "./world.ts"

/** A commit's end: what was written, or why nothing was. */
export type Outcome = { readonly done: CommitReceipt } | { readonly refused: ReadonlyArray<Conflict> }

/** Commits; a conflict is an outcome, a fault stays a failure. */
export const attempt = (storage: StorageApi, change: ChangeSet) =>
  storage.commit(change).pipe(
    Effect.map((done): Outcome => ({ done })),
    Effect.catchTag("StorageConflict", ({ conflicts }) => Effect.succeed<Outcome>({ refused: conflicts }))
  )

/** An outcome with its bytes as hex. */
export const plainOutcome = (outcome: Outcome) =>
  "refused" in outcome
    ? outcome
    : {
        records: outcome.done.records.map((receipt) => ({ ...plainHead(receipt), duplicate: receipt.duplicate })),
        head: plainHead(outcome.done.head)
      }

const plainHead = ({ seq, hash, atMs }: Head) => ({ seq, hash: toHex(hash), atMs })

/** A read, as its name, its arguments and how to ask it. */
export interface Question {
  readonly text: string
  readonly ask: (storage: StorageApi) => Effect.Effect<unknown, unknown>
}

/** A random read whose answer must be the same on every store. */
export const questionOf = (pick: Pick, world: HistoryWorld): Question => {
  const seq = () => pick(world.length + 2)
  const collection = oneOf(pick, cast.collections)
  const text = oneOf(pick, awkwardTexts)
  switch (pick(8)) {
    case 0: {
      const query: RecordQuery = {
        limit: 1 + pick(8),
        ...(onceIn(pick, 2) ? { from: seq() } : {}),
        ...(onceIn(pick, 2) ? { to: seq() } : {}),
        ...(onceIn(pick, 2) ? { kinds: several(pick, 2, () => oneOf(pick, cast.kinds)) } : {}),
        ...(onceIn(pick, 2) ? { agentId: cast.agents[pick(3)]! } : {}),
        ...(onceIn(pick, 2) ? { order: "desc" as const } : {})
      }
      return {
        text: `records ${JSON.stringify(query)}`,
        ask: (storage) => Effect.map(storage.records(query), (found) => found.map(({ seq: at }) => at))
      }
    }
    case 1: {
      const page = { ...(onceIn(pick, 2) ? { after: text } : {}), ...(onceIn(pick, 2) ? { limit: 1 + pick(4) } : {}) }
      return {
        text: `list ${collection} ${JSON.stringify(page)}`,
        ask: (storage) => Effect.map(storage.list(collection, page), addresses)
      }
    }
    case 2: {
      const key = oneOf(pick, ["colour", "name", "size", "none"])
      const value = key === "size" ? "s" : text
      return {
        text: `find ${collection} ${key} ${value}`,
        ask: (storage) => Effect.map(storage.find(collection, key, value), addresses)
      }
    }
    case 3: {
      const seqs = several(pick, 5, seq)
      return {
        text: `parts ${seqs.join()}`,
        ask: (storage) =>
          Effect.map(storage.parts(seqs), (found) => found.map(({ seq: at, name, erasedBy }) => [at, name, erasedBy]))
      }
    }
    case 4: {
      const [tileLevel, from, count] = [pick(3), seq(), pick(300)]
      return {
        text: `hashes ${tileLevel} ${from} ${count}`,
        ask: (storage) => Effect.map(storage.hashes(tileLevel, from, count), toHex)
      }
    }
    case 5: {
      const query = {
        limit: 1 + pick(4),
        ...(onceIn(pick, 2) ? { types: several(pick, 2, () => oneOf(pick, cast.events)) } : {})
      }
      return {
        text: `events ${JSON.stringify(query)}`,
        ask: (storage) =>
          Effect.map(
            Effect.all([
              storage.outbox.events(query),
              storage.outbox.owned({ owner: cast.owners[1]!, types: cast.events, limit: query.limit })
            ]),
            (found) => found.flat().map(({ id, seq: at }) => [id, at])
          )
      }
    }
    case 6: {
      const key = oneOf(pick, ["colour", "name", "none"])
      const range: KeyRange = {
        limit: 1 + pick(6),
        ...(onceIn(pick, 2) ? { after: text } : {}),
        ...(onceIn(pick, 2) ? { before: oneOf(pick, awkwardTexts) } : {}),
        ...(onceIn(pick, 2) ? { order: "desc" as const } : {})
      }
      return {
        text: `range ${collection} ${key} ${JSON.stringify(range)}`,
        ask: (storage) => Effect.map(storage.range(collection, key, range), addresses)
      }
    }
    default: {
      const page = { limit: 1 + pick(4), ...(onceIn(pick, 2) ? { before: 1 + pick(9) } : {}) }
      return {
        text: `deliveries of ${text} ${JSON.stringify(page)}`,
        ask: (storage) => storage.outbox.deliveriesOf(text, page)
      }
    }
  }
}

const addresses = (found: ReadonlyArray<{ readonly id: string; readonly version: number }>) =>
  found.map(({ id, version }) => [id, version])
