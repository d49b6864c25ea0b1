/** Worlds whose reviews or standing approvals are broken on purpose: one for each promise of their checkers. */
import {
  questionOf,
  boxOf,
  ENVELOPE_VERSIONS,
  REVIEW_KEYS,
  type ReviewDocument,
  REVIEWS,
  STANDING_APPROVALS,
  type StandingApprovalDocument
} from "../../../packages/rules/src/index.ts"
import type { ChangeSet, Document, JsonObject, RecordDraft, StorageApi } from "@flyball/core/storage"
import { canonicalBytes, toHex } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { Effect } from "effect"
import { type BrokenWorld, withCommit, withStorage } from "./broken-world.ts"
import { deskAction, deskAgents, digestOfAmount, needs, PUBLISHER } from "./desk.ts"
import { approvedOften, haltedOften, reviewedOften } from "./options.ts"

const HOUR_MS = 3_600_000

/** A store that shows other documents of a collection than it has, one by one and by look-up keys. */
const showing = <A>(collection: string, change: (body: A, seen: Seen) => Partial<A>) => {
  const seen: Seen = { agents: [] }
  const other = (document: Document): Document => ({
    ...document,
    body: { ...document.body, ...change(document.body as unknown as A, seen) } as unknown as JsonObject
  })
  return withStorage(({ commit, find, get }) => ({
    commit: (changes) => {
      for (const { body, id, collection: of } of changes.puts ?? [])
        if (of === "agents" && deskAgents.some((name) => name === body["name"]) && !seen.agents.includes(id))
          seen.agents.push(id)
      return commit(changes)
    },
    get: (of, id) => Effect.map(get(of, id), (found) => (of === collection && found !== null ? other(found) : found)),
    find: (of, key, value) =>
      Effect.map(find(of, key, value), (found) => (of === collection ? found.map(other) : found))
  }))
}

/** The agents of the desk, as a store saw them come. */
interface Seen {
  readonly agents: Array<string>
}

const review = (change: (body: ReviewDocument, seen: Seen) => Partial<ReviewDocument>) => () =>
  showing<ReviewDocument>(REVIEWS, change)
const standing = (change: (body: StandingApprovalDocument) => Partial<StandingApprovalDocument>) => () =>
  showing<StandingApprovalDocument>(STANDING_APPROVALS, change)

/** The change without what it puts into a collection, as a store that forgets it. */
const withoutPuts = ({ puts = [], ...change }: ChangeSet, collection: string): ChangeSet => ({
  ...change,
  puts: puts.filter((put) => put.collection !== collection)
})

/** The change at the versions that there are now, whatever it was planned on. */
const atAnyVersion = (storage: StorageApi, { expects: _, puts = [], ...change }: ChangeSet) =>
  Effect.flatMap(
    Effect.forEach(puts, (put) =>
      Effect.map(storage.get(put.collection, put.id), (now) => ({ ...put, expectedVersion: now?.version ?? 0 }))
    ),
    (now) => storage.commit({ ...change, puts: now })
  )

/** Acknowledges a change and writes nothing. */
const forgotten = (storage: StorageApi) =>
  Effect.map(Effect.orDie(storage.head), (head) => ({ head: head!, records: [{ ...head!, duplicate: false }] }))

const withoutRecord = ({ records = [], ...change }: ChangeSet, kind: string): ChangeSet => ({
  ...change,
  records: records.filter((record: RecordDraft) => record.kind !== kind)
})

/** Answers to a commit of which a record was left out: as many as there were drafts. */
const asIfAll = (storage: StorageApi, change: ChangeSet, less: ChangeSet) =>
  Effect.map(storage.commit(less), ({ head, records }) => ({
    head,
    records: (change.records ?? []).map((_, index) => records[index] ?? records[0]!)
  }))

/** The change with a box of all amounts, as who holds the key would seal it. */
const withWiderBox = ({ puts = [], records = [], ...change }: ChangeSet): ChangeSet => {
  const pins: StandingApprovalDocument["pins"] = [{ path: "/signals/amount", at_most: needs.at(-1)!.to }]
  const widened = puts.map((put) => {
    const { action, args } = put.body as unknown as StandingApprovalDocument
    const box = canonicalBytes(boxOf({ action, args, pins }))
    return { put, box, boxDigest: toHex(nodeCrypto.sha256(box)) }
  })
  return {
    ...change,
    puts: widened.map(({ boxDigest, put }) => ({ ...put, body: { ...put.body, boxDigest, pins } as JsonObject })),
    records: records.map((record, place) => ({
      ...record,
      body: { ...record.body, box_digest: widened[place]!.boxDigest },
      parts: record.parts.map((part) => (part.name === "box" ? { name: "box", bytes: widened[place]!.box } : part))
    }))
  }
}

/** The amount of a reviewed action, of those that requests have. */
const amountOf = ({ actionDigest }: ReviewDocument): number | undefined =>
  needs.flatMap(({ from }) => [from + 50, from + 51]).find((one) => digestOfAmount(one) === actionDigest)

const isApproved = ({ resolution }: ReviewDocument): boolean => resolution === "approve"

/** Broken worlds of reviews. Each runs over seeds until one of them meets it. */
export const brokenReviews: ReadonlyArray<BrokenWorld> = [
  {
    what: "a store that forgets that an approval was consumed",
    foundBy: "reviews",
    from: 5,
    says: /is consumed twice/,
    options: reviewedOften,
    ports: () => withCommit("review.consumed", (storage, change) => storage.commit(withoutPuts(change, REVIEWS)))
  },
  {
    what: "a store that accepts an approval and does not write its use",
    foundBy: "reviews",
    from: 2,
    says: /is allowed with 0 approvals/,
    options: reviewedOften,
    ports: () =>
      withCommit("review.consumed", (storage, change) =>
        asIfAll(storage, change, withoutPuts(withoutRecord(change, "review.consumed"), REVIEWS))
      )
  },
  {
    what: "a store in which an approval is for another action",
    foundBy: "reviews",
    says: /is consumed by another action/,
    options: reviewedOften,
    ports: review((body) => {
      const amount = amountOf(body)
      return isApproved(body) && amount !== undefined ? { actionDigest: digestOfAmount(amount + 1) } : {}
    })
  },
  {
    what: "a store in which an approval is for other signals",
    foundBy: "reviews",
    says: /is consumed by other signals/,
    options: reviewedOften,
    ports: review((body) => {
      const amount = amountOf(body)
      return isApproved(body) && amount !== undefined
        ? { question: questionOf(nodeCrypto.sha256, null, deskAction(amount + 1), null) }
        : {}
    })
  },
  {
    what: "a store that forgets which questions are open",
    foundBy: "reviews",
    says: /asks the same as/,
    options: reviewedOften,
    ports: () =>
      withStorage(({ commit, find }) => ({
        commit: ({ puts = [], ...change }) =>
          commit({
            ...change,
            puts: puts.map(({ unique, ...put }) =>
              put.collection === REVIEWS ? put : { ...put, ...(unique === undefined ? {} : { unique }) }
            )
          }),
        find: (collection, key, value) =>
          collection === REVIEWS && key === REVIEW_KEYS.question ? Effect.succeed([]) : find(collection, key, value)
      }))
  },
  {
    what: "a store in which an approval is for another agent",
    foundBy: "reviews",
    says: /is consumed by another agent/,
    options: reviewedOften,
    ports: review((body, { agents }) =>
      isApproved(body) ? { agentId: agents.find((id) => id !== body.agentId) ?? body.agentId } : {}
    )
  },
  {
    what: "a store in which reviews expire an hour late",
    foundBy: "reviews",
    from: 2,
    says: /is answered \d+ ms after its end/,
    options: reviewedOften,
    ports: review(({ expiresAtMs }) => ({ expiresAtMs: expiresAtMs + HOUR_MS }))
  },
  {
    what: "a store in which an approval outlives its review",
    foundBy: "reviews",
    from: 3,
    says: /is consumed after its end/,
    options: reviewedOften,
    ports: review((body) => (isApproved(body) ? { expiresAtMs: body.expiresAtMs + HOUR_MS } : {}))
  },
  {
    what: "a store that forgets who requested a review",
    foundBy: "reviews",
    says: /who requested it/,
    options: reviewedOften,
    ports: review(() => ({ requestedBy: `key_${"0".repeat(25)}9` }))
  },
  {
    what: "a store that forgets who wrote an envelope",
    foundBy: "reviews",
    says: /who wrote its envelope/,
    options: reviewedOften,
    ports: () => showing<{ readonly authors: ReadonlyArray<string> }>(ENVELOPE_VERSIONS, () => ({ authors: [] }))
  },
  {
    what: "a store in which no review excludes the owner",
    foundBy: "reviews",
    from: 2,
    says: /who owns its agent/,
    options: reviewedOften,
    ports: review(() => ({ twoPerson: false }))
  },
  {
    what: "a store in which every person has every role",
    foundBy: "reviews",
    says: /who has no such role/,
    options: reviewedOften,
    ports: review((body) => ({ needs: body.needs.map((need) => ({ ...need, role: null })) }))
  },
  {
    what: "a store that forgets who resolved a review",
    foundBy: "reviews",
    from: 2,
    says: /is answered twice by usr_/,
    options: reviewedOften,
    ports: review((body) => (body.ended === null ? { resolvedBy: [] } : {}))
  },
  {
    what: "a store in which one person is enough",
    foundBy: "reviews",
    says: /ends with 1 of 2 approvals/,
    options: reviewedOften,
    ports: review((body) => ({ needs: body.needs.map((need) => ({ ...need, approvals: 1 })) }))
  },
  {
    what: "a store in which two resolutions end one review",
    foundBy: "reviews",
    says: /has review.resolved after it was over/,
    options: (chosen) => ({ ...reviewedOften(chosen), thinkMs: 0 }),
    ports: () => withCommit("review.resolved", atAnyVersion)
  },
  {
    what: "a store in which reviews stay open after their end is recorded",
    foundBy: "reviews",
    from: 3,
    says: /after it was over \(expired\)/,
    options: reviewedOften,
    ports: () =>
      withCommit("review.expired", (storage, { puts = [], ...change }) =>
        storage.commit({
          ...change,
          puts: puts.map((put) => ({
            ...put,
            body: { ...put.body, ended: null, expiresAtMs: Number(put.body["expiresAtMs"]) + HOUR_MS }
          }))
        })
      )
  },
  {
    what: "a store that forgets which reviews a halt ended",
    foundBy: "reviews",
    says: /a halt ended it|a halt reached its agent/,
    options: haltedOften,
    ports: () => withCommit("review.cancelled", forgotten)
  },
  {
    what: "a store that writes resolutions planned before a halt after it",
    foundBy: "reviews",
    from: 3,
    says: /is answered while its agent is halted/,
    options: (chosen) => ({ ...haltedOften(chosen), thinkMs: 0, callMs: 400 }),
    ports: () => withCommit("review.resolved", (storage, { expects: _, ...change }) => storage.commit(change))
  },
  {
    what: "a store that acknowledges resolutions and does not write them",
    foundBy: "reviews",
    says: /answered 0 times, of \d+ tries [1-9]/,
    options: reviewedOften,
    ports: () => withCommit("review.resolved", forgotten)
  },
  {
    what: "a store that returns reviews without who resolved them",
    foundBy: "reviews",
    says: /host \d shows .* the records say/,
    options: reviewedOften,
    ports: review((body) => (body.ended === "resolved" ? { resolvedBy: [] } : {}))
  },
  {
    what: "a store that forgets that a standing approval was used",
    foundBy: "standings",
    from: 3,
    says: /leaves \d of \d|is used more often than it counts/,
    options: approvedOften,
    ports: () =>
      withCommit("standing_approval.used", (storage, change) => storage.commit(withoutPuts(change, STANDING_APPROVALS)))
  },
  {
    what: "a store in which a standing approval always has a use left",
    foundBy: "standings",
    from: 3,
    says: /is used more often than it counts/,
    options: approvedOften,
    ports: standing((body) => ({ left: Math.max(1, body.left) }))
  },
  {
    what: "a store that forgets revocations",
    foundBy: "standings",
    says: /is used after it was revoked/,
    options: (chosen) => ({ ...approvedOften(chosen), acts: [...approvedOften(chosen).acts, "revokeStanding"] }),
    ports: standing((body) => (body.status === "revoked" ? { status: "granted" } : {}))
  },
  {
    what: "a store in which a proposal is enough",
    foundBy: "standings",
    says: /is used before it was granted/,
    options: approvedOften,
    ports: standing((body) => (body.status === "proposed" ? { status: "granted" } : {}))
  },
  {
    what: "a store in which standing approvals expire an hour late",
    foundBy: "standings",
    from: 5,
    says: /is used after its end/,
    options: approvedOften,
    ports: standing((body) => ({ expiresAtMs: body.expiresAtMs + HOUR_MS }))
  },
  {
    what: "a store that forgets the pins of a box",
    foundBy: "standings",
    from: 3,
    says: /outside its box/,
    options: approvedOften,
    ports: standing((body) => (body.pins === null ? {} : { pins: [] }))
  },
  {
    what: "a store that seals wider boxes than were proved",
    foundBy: "evaluations",
    says: /standing_approval_too_wide/,
    options: approvedOften,
    ports: () => withCommit("standing_approval.proposed", (storage, change) => storage.commit(withWiderBox(change)))
  },
  {
    what: "a store in which a standing approval is for every agent",
    foundBy: "standings",
    from: 3,
    says: /is used by another agent/,
    options: approvedOften,
    ports: () =>
      withStorage(({ find, list }) => ({
        find: (collection, key, value) =>
          collection === STANDING_APPROVALS && key === "agent_id"
            ? Effect.map(list(collection), (found) =>
                found.map((one) => ({ ...one, body: { ...one.body, agentId: value } }))
              )
            : find(collection, key, value)
      }))
  },
  {
    what: "a store that forgets who proposed a standing approval",
    foundBy: "standings",
    from: 2,
    says: /is granted by usr_\w+, who proposed it/,
    options: approvedOften,
    ports: standing(() => ({ proposedBy: `usr_${"0".repeat(25)}9` }))
  },
  {
    what: "a store in which every person approved a review",
    foundBy: "standings",
    from: 2,
    says: /who did not approve/,
    options: approvedOften,
    ports: review((body) => ({
      approvals: isApproved(body) ? [...body.approvals, { by: PUBLISHER, roles: ["reviewer"] }] : body.approvals
    }))
  },
  {
    what: "a store that lists standing approvals with too many uses left",
    foundBy: "standings",
    says: /host \d lists .* the records say/,
    options: approvedOften,
    ports: () =>
      withStorage(({ list }) => ({
        list: (collection, page) =>
          Effect.map(list(collection, page), (found) =>
            collection === STANDING_APPROVALS
              ? found.map((one) => ({ ...one, body: { ...one.body, left: Number(one.body["left"]) + 1 } }))
              : found
          )
      }))
  }
]
