/** Random ChangeSets: mostly right, often enough wrong in each way that a store refuses. */
import type { ChangeSet, DocumentPut, EventDraft, JsonObject, RecordDraft } from "@flyball/core/storage"
import { utf8 } from "@flyball/evidence"
import type { Pick } from "./pick.ts"
import { onceIn, oneOf, several } from "./pick.ts"
import type { HistoryWorld } from "./world.ts"
import { awkwardTexts, cast } from "./world.ts"

const genesis: RecordDraft = {
  kind: "chain.genesis",
  body: { hash: "sha256-rfc6962", origin: "flyball.test/history", vkeys: [] },
  parts: [],
  agentId: null
}

/** The next ChangeSet of a history. Choices that have run out make the simplest one. */
export const changeOf = (pick: Pick, world: HistoryWorld): ChangeSet => {
  const opens = world.isEmpty ? !onceIn(pick, 8) : onceIn(pick, 24)
  const erase = world.isEmpty ? [] : distinct(several(pick, 2, () => target(pick, world)))
  const records = [
    ...(opens ? [genesis] : []),
    ...several(pick, 5, () => draft(pick)),
    ...erase.map(({ seq, name }): RecordDraft => ({
      kind: "part.erased",
      body: { name, reason: "data_subject_request", seq },
      parts: [],
      agentId: null
    }))
  ]
  const events = several(pick, 2, (): EventDraft => {
    const owner = oneOf(pick, cast.owners)
    return { type: oneOf(pick, cast.events), data: body(pick), ...(owner === undefined ? {} : { owner }) }
  })
  const puts = distinctPuts(several(pick, 3, () => put(pick, world)))
  return {
    ...(opens ? { expectEmpty: true } : {}),
    expects: several(pick, 1, () => address(pick)).map(({ collection, id }) => ({
      collection,
      id,
      version: versionOf(pick, world, collection, id)
    })),
    puts,
    records,
    erase,
    forget: several(pick, 1, () => ({
      scope: oneOf(pick, cast.scopes),
      key: cast.idempotencyKeys[pick(cast.idempotencyKeys.length)]!
    })),
    events,
    cancel: onceIn(pick, 8) ? [{ endpointId: oneOf(pick, awkwardTexts) }] : [],
    ...(onceIn(pick, 6) ? { expectNew: true } : {}),
    counts: cast.counters
      .filter(() => onceIn(pick, 3))
      .map((name) => ({ name, add: pick(5) - 1, ...(onceIn(pick, 2) ? { atMost: 6 } : {}) })),
    deletes: onceIn(pick, 3) ? deletesOf(pick, world, puts) : []
  }
}

const address = (pick: Pick): { readonly collection: string; readonly id: string } => ({
  collection: oneOf(pick, cast.collections),
  id: oneOf(pick, awkwardTexts)
})

const versionOf = (pick: Pick, world: HistoryWorld, collection: string, id: string): number => {
  const version = world.version(collection, id)
  return onceIn(pick, 12) ? version + 1 : onceIn(pick, 12) ? Math.max(0, version - 1) : version
}

const put = (pick: Pick, world: HistoryWorld): DocumentPut => {
  const { collection, id } = address(pick)
  // Any document may have such keys; only those of `webhooks` are owed something for them.
  const wants = Object.fromEntries(
    cast.owners
      .flatMap((owner) => cast.events.map((type) => (owner === undefined ? `on:${type}` : `on:${type}:${owner}`)))
      .filter(() => onceIn(pick, 4))
      .map((key) => [key, onceIn(pick, 6) ? "no" : "yes"])
  )
  return {
    collection,
    id,
    expectedVersion: onceIn(pick, 12) ? null : versionOf(pick, world, collection, id),
    body: body(pick),
    keys: { ...wants, ...(onceIn(pick, 3) ? { colour: oneOf(pick, awkwardTexts), size: "s" } : {}) },
    ...(onceIn(pick, 3) ? { unique: { name: oneOf(pick, awkwardTexts) } } : {})
  }
}

/** Bodies of whole numbers and awkward texts: right for records too. */
const body = (pick: Pick): JsonObject => ({
  n: pick(1000),
  ...(onceIn(pick, 3)
    ? { [oneOf(pick, awkwardTexts)]: [null, true, { z: -pick(2 ** 31), a: oneOf(pick, awkwardTexts) }] }
    : {}),
  ...(onceIn(pick, 6) ? { text: `\u0000\u2028"\\${oneOf(pick, awkwardTexts).repeat(pick(40))}` } : {})
})

const draft = (pick: Pick): RecordDraft => ({
  kind: oneOf(pick, cast.kinds),
  body: body(pick),
  parts: cast.parts
    .filter(() => onceIn(pick, 2))
    .map((name) => ({ name, bytes: utf8(oneOf(pick, awkwardTexts).repeat(pick(50))) })),
  agentId: oneOf(pick, cast.agents),
  ...(onceIn(pick, 2)
    ? {
        once: {
          scope: oneOf(pick, cast.scopes),
          key: cast.idempotencyKeys[pick(cast.idempotencyKeys.length)]!,
          digest: (onceIn(pick, 6) ? "b" : "a").repeat(64)
        }
      }
    : {})
})

/** A part to erase: nearly always one that was written. */
const target = (pick: Pick, world: HistoryWorld): { readonly seq: number; readonly name: string } =>
  world.parts.length === 0 || onceIn(pick, 10)
    ? { seq: pick(world.length + 3), name: oneOf(pick, cast.parts) }
    : world.parts[pick(world.parts.length)]!

const distinct = <A extends { readonly seq: number; readonly name: string }>(
  targets: ReadonlyArray<A>
): ReadonlyArray<A> =>
  targets.filter(
    ({ seq, name }, index) => targets.findIndex((other) => other.seq === seq && other.name === name) === index
  )

/**
 * One document that goes, where the history has one that is not put at the same time; endpoints of webhooks never go.
 */
const deletesOf = (
  pick: Pick,
  world: HistoryWorld,
  puts: ReadonlyArray<DocumentPut>
): NonNullable<ChangeSet["deletes"]> =>
  [address(pick)]
    .map(({ collection, id }) => ({ collection, id, version: versionOf(pick, world, collection, id) }))
    .filter(
      ({ collection, id, version }) =>
        version > 0 && collection !== "webhooks" && !puts.some((put) => put.collection === collection && put.id === id)
    )

const distinctPuts = (puts: ReadonlyArray<DocumentPut>): ReadonlyArray<DocumentPut> =>
  puts.filter(
    ({ collection, id }, index) =>
      puts.findIndex((other) => other.collection === collection && other.id === id) === index
  )
