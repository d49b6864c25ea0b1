/** Worlds that are broken on purpose: each must be found by the checker that is there for it. */
import type { GuardApi, SignedState } from "@flyball/core"
import {
  type Claimed,
  type DeliveryMove,
  type Document,
  type OutboxApi,
  type RecordDraft,
  WEBHOOKS
} from "@flyball/core/storage"
import { BREAKERS, KILL_ACTIVATIONS, KILL_EPOCH, MCP_SERVERS, runKinds } from "../../../packages/rules/src/index.ts"
import { DRIFT_EPOCHS } from "../../../packages/core/src/screens/drift/plan-alarm.ts"
import { planRelease } from "../../../packages/core/src/verdicts/breakers/plan-release.ts"
import { storedBreaker } from "../../../packages/core/src/verdicts/breakers/stored-breaker.ts"
import { Effect, Result } from "effect"
import { brokenFleet } from "./broken-fleet.ts"
import { brokenReviews } from "./broken-reviews.ts"
import { brokenStops } from "./broken-stops.ts"
import { type BrokenWorld, withCommit, withStorage } from "./broken-world.ts"
import {
  brokenOften,
  crowded,
  drifting,
  flowing,
  keyed,
  listed,
  lightly,
  metered,
  screened,
  stoppedOften,
  watched
} from "./options.ts"

/** A store whose outbox does something else. */
const withOutbox = (change: (outbox: OutboxApi) => Partial<OutboxApi>) =>
  withStorage(({ outbox }) => ({ outbox: { ...outbox, ...change(outbox) } }))

/** A store that does something else with what becomes of deliveries. Null: the move is forgotten. */
const withMoves = (instead: (move: DeliveryMove) => DeliveryMove | null) =>
  withStorage(({ commit }) => ({
    commit: (change) =>
      commit(
        change.moves === undefined ? change : { ...change, moves: change.moves.flatMap((move) => instead(move) ?? []) }
      )
  }))

/** Broken worlds. Each runs over seeds until one of them meets it. */
export const brokenWorlds: ReadonlyArray<BrokenWorld> = [
  {
    what: "a store that forgets the idempotency keys of decisions",
    foundBy: "capture",
    options: lightly,
    ports: () =>
      withCommit("decision.witnessed", (storage, { records = [], ...change }) =>
        storage.commit({
          ...change,
          records: records.map((record): RecordDraft => ({
            kind: record.kind,
            body: record.body,
            parts: record.parts,
            agentId: record.agentId
          }))
        })
      )
  },
  {
    what: "a store that acknowledges and does not write",
    foundBy: "capture",
    options: lightly,
    ports: () =>
      withCommit("decision.witnessed", (storage, change, count) =>
        count !== 3
          ? storage.commit(change)
          : Effect.map(Effect.orDie(storage.head), (head) => ({
              head: head!,
              records: (change.records ?? []).map((_, index) => ({
                seq: head!.seq + 1 + index,
                hash: new Uint8Array(32),
                atMs: head!.atMs,
                duplicate: false
              }))
            }))
      )
  },
  {
    what: "a store that writes documents without their record",
    foundBy: "replay",
    options: lightly,
    ports: () =>
      withCommit("ingest_key.revoked", (storage, change) =>
        Effect.andThen(
          storage.commit({ puts: change.puts! }),
          Effect.map(Effect.orDie(storage.head), (head) => ({ head: head!, records: [{ ...head!, duplicate: false }] }))
        )
      )
  },
  {
    what: "a store that shows platform keys as they were minted",
    foundBy: "platform keys",
    says: /is revoked, and opens/,
    options: keyed,
    ports: () =>
      withStorage(({ find }) => ({
        find: (collection, key, value) =>
          Effect.map(find(collection, key, value), (found) =>
            collection === "platform_keys"
              ? found.map((document) => ({ ...document, body: { ...document.body, revoked: false } }))
              : found
          )
      }))
  },
  {
    what: "a store that finds no settlement for what a screen counts",
    foundBy: "screens",
    says: /says .*, and .* are there/,
    options: screened,
    ports: () =>
      withStorage(({ once }) => ({
        once: (scope, keys) => (scope === "settle" ? Effect.succeed([]) : once(scope, keys))
      }))
  },
  {
    what: "a store that forgets which list was approved",
    foundBy: "tools",
    says: /an approved list opened a finding/,
    options: listed,
    ports: () =>
      withCommit("mcp.pinned", (storage, change) =>
        storage.commit({ ...change, puts: (change.puts ?? []).filter(({ collection }) => collection !== MCP_SERVERS) })
      )
  },
  {
    what: "a store in which each host opens an alert of its own",
    foundBy: "monitors",
    says: /two open alerts/,
    from: 8,
    options: watched,
    ports: () =>
      withCommit("alert.triggered", (storage, change) =>
        Effect.flatMap(
          Effect.forEach(change.puts ?? [], (put) =>
            Effect.map(storage.get(put.collection, put.id), (now) => ({ ...put, expectedVersion: now?.version ?? 0 }))
          ),
          (puts) => storage.commit({ ...change, puts })
        )
      )
  },
  {
    what: "a store that takes inferences and keeps none",
    foundBy: "monitors",
    says: /inferences of .* are kept/,
    options: watched,
    ports: () =>
      withStorage(({ commit }) => ({
        commit: (change) =>
          commit({ ...change, puts: (change.puts ?? []).filter(({ collection }) => collection !== "inferences") })
      }))
  },
  {
    what: "a store that forgets where an alarm ended",
    foundBy: "drift",
    says: /begins with .*, and one before it ends/,
    options: drifting,
    ports: () =>
      withCommit("drift.alarmed", (storage, change) =>
        storage.commit({ ...change, puts: (change.puts ?? []).filter(({ collection }) => collection !== DRIFT_EPOCHS) })
      )
  },
  {
    what: "a store that hides half of what a breaker is calibrated by",
    foundBy: "drift",
    says: /good runs and/,
    options: drifting,
    ports: () =>
      withStorage(({ records }) => ({
        records: (query) =>
          Effect.map(records(query), (found) =>
            query.kinds === runKinds && query.order === undefined ? found.slice(found.length >> 1) : found
          )
      }))
  },
  {
    what: "a store that turns an answer round",
    foundBy: "flows",
    says: /was acknowledged, and the records say/,
    from: 3,
    options: flowing,
    ports: () =>
      withCommit("execution.decided", (storage, change) =>
        storage.commit({
          ...change,
          records: change.records!.map((record) =>
            record.kind === "execution.decided"
              ? { ...record, body: { ...record.body, approved: record.body["approved"] !== true } }
              : record
          )
        })
      )
  },
  {
    what: "a store that gives no slot back",
    foundBy: "flows",
    says: /neither end nor wait|slots are held/,
    from: 3,
    options: flowing,
    ports: () =>
      withStorage((storage) => ({
        commit: ({ counts = [], ...change }) =>
          storage.commit({ ...change, counts: counts.filter(({ add }) => add > 0) })
      }))
  },
  {
    what: "a store that changes a record after it was written",
    foundBy: "chain",
    options: lightly,
    ports: () =>
      withStorage(({ records }) => ({
        records: (query) =>
          Effect.map(records(query), (found) =>
            found.map((record) =>
              record.seq === 2 ? { ...record, bytes: record.bytes.with(record.bytes.length - 3, 0x37) } : record
            )
          )
      }))
  },
  {
    what: "a guard that does not compare",
    foundBy: "guard",
    from: 27,
    options: lightly,
    ports: () => (real) => {
      let held: SignedState | null = null
      const advance: GuardApi["advance"] = (_, to) =>
        Effect.sync(() => {
          held = to
          return true
        })
      return { ...real, guard: { read: Effect.sync(() => held), advance } }
    }
  },
  {
    what: "a store that loses its tail after signing it",
    foundBy: "guard",
    options: lightly,
    ports: () => {
      let end = Number.MAX_SAFE_INTEGER
      return withStorage(({ commit, records }) => ({
        commit: (change) =>
          Effect.tap(commit(change), () =>
            Effect.sync(() => {
              const signed = Math.max(
                0,
                ...(change.puts ?? [])
                  .filter(({ collection }) => collection === "checkpoints")
                  .map(({ body }) => Number(body["size"]))
              )
              if (signed > 10) end = Math.min(end, signed - 1)
            })
          ),
        records: (query) => Effect.map(records(query), (found) => found.filter(({ seq }) => seq < end))
      }))
    }
  },
  {
    what: "a store that loses events",
    foundBy: "outbox",
    options: lightly,
    ports: () => withStorage(({ commit }) => ({ commit: (change) => commit({ ...change, events: [] }) }))
  },
  {
    what: "a store that never grants a lease",
    foundBy: "signing",
    options: lightly,
    ports: () => withStorage(() => ({ lease: () => Effect.succeed(false) }))
  },
  {
    // Of checkpoints it is caught before they are stored.
    what: "a signer that closes packs with another key than the one it shows",
    foundBy: "packs",
    options: lightly,
    ports: () => (real) => ({
      ...real,
      signer: {
        ...real.signer,
        sign: (message) =>
          new TextDecoder().decode(message).includes("/evidence-pack/v1\n")
            ? Effect.succeed(new Uint8Array(64))
            : real.signer.sign(message)
      }
    })
  },
  {
    what: "a store that creates no deliveries for events",
    foundBy: "deliveries",
    says: /nothing is owed of it/,
    ports: () =>
      withStorage(({ commit }) => ({
        commit: (change) =>
          commit({
            ...change,
            puts: (change.puts ?? []).map((put) => (put.collection === WEBHOOKS ? { ...put, keys: {} } : put))
          })
      }))
  },
  {
    what: "a store that gives one delivery to two claims",
    foundBy: "deliveries",
    says: /was sent twice/,
    ports: () => {
      let last: ReadonlyArray<Claimed> = []
      return withOutbox(({ claim }) => ({
        claim: (request) =>
          Effect.map(claim(request), (answer) => {
            const again = last
            last = answer.claimed
            return { ...answer, claimed: [...answer.claimed, ...again] }
          })
      }))
    }
  },
  {
    what: "a store that retries a delivery after its final failure",
    foundBy: "deliveries",
    says: /tried 8 times|request 8/,
    ports: () =>
      withStorage(({ commit }) => ({
        commit: (change) => {
          const seventh = (change.moves ?? []).filter(({ from, to }) => to.state === "failed" && from.attempts === 7)
          return commit(
            seventh.length === 0
              ? change
              : {
                  moves: seventh.map((move) => ({
                    ...move,
                    to: { state: "pending", nextAttemptAtMs: move.ended!.endedAtMs }
                  }))
                }
          )
        }
      }))
  },
  {
    what: "a store that retries a minute too early",
    foundBy: "deliveries",
    says: /is the least/,
    ports: () =>
      withMoves((move) =>
        move.to.state !== "pending" || move.ended === undefined
          ? move
          : { ...move, to: { state: "pending", nextAttemptAtMs: move.ended.endedAtMs + 1 } }
      )
  },
  {
    what: "a store that forgets that a delivery succeeded",
    foundBy: "deliveries",
    says: /the records say/,
    ports: () => withMoves((move) => (move.to.state === "succeeded" ? null : move))
  },
  {
    what: "a store that reports a success without one",
    foundBy: "deliveries",
    says: /no receiver took it in/,
    ports: () => withMoves((move) => (move.ended === undefined ? move : { ...move, to: { state: "succeeded" } }))
  },
  {
    what: "a store that gives all deliveries of a webhook one sequence",
    foundBy: "deliveries",
    says: /was sent as number/,
    ports: () =>
      withOutbox(({ claim }) => ({
        claim: (request) =>
          Effect.map(claim(request), (answer) => ({
            ...answer,
            claimed: answer.claimed.map((one) => ({ ...one, delivery: { ...one.delivery, sequence: 1 } }))
          }))
      }))
  },
  {
    what: "a store that never claims due deliveries",
    foundBy: "deliveries",
    says: /is still pending after 0 attempts/,
    ports: () => withOutbox(() => ({ claim: () => Effect.succeed({ claimed: [], lapsed: [], nextAtMs: null }) }))
  },
  {
    what: "a store that lets two evaluations fill one meter window at once",
    foundBy: "evaluations",
    says: /passes the cap/,
    options: crowded,
    ports: () =>
      withStorage((storage) => ({
        commit: (change) =>
          (change.records ?? []).some(({ kind }) => kind === "evaluation.made")
            ? Effect.flatMap(
                Effect.forEach(change.puts ?? [], (put) =>
                  Effect.map(storage.get(put.collection, put.id), (now) => ({
                    ...put,
                    expectedVersion: now?.version ?? 0
                  }))
                ),
                (puts) => storage.commit({ ...change, puts, expects: [] })
              )
            : storage.commit(change)
      }))
  },
  {
    what: "a store in which an agent keeps a tier whose conditions are lost",
    foundBy: "evaluations",
    says: /acts at L1; the record says L2/,
    options: (chosen) => ({ ...crowded(chosen), acts: ["govern", "evaluate", "evaluate", "withdraw"] }),
    ports: () =>
      withCommit("evaluation.made", (storage, { records = [], ...change }) =>
        storage.commit({
          ...change,
          records: records.map((record): RecordDraft =>
            "effective_tier" in record.body
              ? { ...record, body: { ...record.body, effective_tier: record.body["tier"]! } }
              : record
          )
        })
      )
  },
  {
    what: "a reader that keeps its cache of the kill switch past the epoch",
    foundBy: "kill",
    says: /was known before the question/,
    options: stoppedOften,
    ports: () => {
      let reads = 0
      let last: Document | null = null
      return withStorage(({ get }) => ({
        get: (collection, id) =>
          Effect.map(get(collection, id), (found) => {
            if (collection !== KILL_EPOCH.collection) return found
            // Every other read answers what the one before it did. A commit on that conflicts and reads again.
            if (reads++ % 2 === 0) last = found
            return last
          })
      }))
    }
  },
  {
    what: "a store that writes evaluations planned before a halt after it",
    foundBy: "kill",
    says: /after kil_\w+ and before its release/,
    options: stoppedOften,
    ports: () =>
      withCommit("evaluation.made", (storage, { expects = [], ...change }) =>
        storage.commit({ ...change, expects: expects.filter(({ collection }) => collection !== KILL_EPOCH.collection) })
      )
  },
  {
    what: "a store in which a release lifts all activations",
    foundBy: "kill",
    says: /was answered .* it is/,
    options: stoppedOften,
    ports: () =>
      withCommit("kill.released", (storage, { puts = [], ...change }) =>
        Effect.flatMap(storage.find(KILL_ACTIVATIONS, "state", "live"), (live) =>
          storage.commit({
            ...change,
            puts: [
              ...puts,
              ...live
                .filter(({ id }) => !puts.some((put) => put.id === id))
                .map(({ body, id, version }) => ({
                  collection: KILL_ACTIVATIONS,
                  id,
                  expectedVersion: version,
                  body
                }))
            ]
          })
        )
      )
  },
  {
    what: "a store that hides failures from the windows of breakers",
    foundBy: "breakers",
    says: /had to trip before/,
    options: brokenOften,
    ports: () =>
      withStorage(({ records }) => ({
        records: (query) =>
          Effect.map(records(query), (found) =>
            query.kinds?.includes("breaker.armed") === true
              ? found.filter(({ bytes }) => !new TextDecoder().decode(bytes).includes('"status":"error"'))
              : found
          )
      }))
  },
  {
    what: "a store in which a breaker trips twice for one window",
    foundBy: "breakers",
    says: /trips twice in the window/,
    options: brokenOften,
    ports: () =>
      withCommit("breaker.tripped", (storage, { puts = [], ...change }) =>
        Effect.flatMap(
          Effect.forEach(puts, (put) =>
            Effect.map(storage.get(put.collection, put.id), (now) => ({ ...put, expectedVersion: now?.version ?? 0 }))
          ),
          (now) => storage.commit({ ...change, puts: now, expects: [] })
        )
      )
  },
  {
    what: "a breaker that releases itself",
    foundBy: "breakers",
    says: /has breaker.released by breaker:/,
    options: brokenOften,
    ports: () =>
      withCommit("breaker.tripped", (storage, change) =>
        Effect.gen(function* () {
          const receipt = yield* storage.commit(change)
          const id = String(change.records?.[0]?.body["breaker_id"])
          const stored = storedBreaker((yield* storage.get(BREAKERS, id))!)
          const writer = { id: `breaker:${stored.body.name}` }
          const { change: release } = Result.getOrThrow(planRelease(stored, null, writer, yield* storage.asOf))
          yield* storage.commit(release)
          return receipt
        })
      )
  },
  {
    what: "a store that trips breakers without their activation",
    foundBy: "breakers",
    says: /in mode enforce and activates nothing/,
    options: brokenOften,
    ports: () =>
      withCommit("breaker.tripped", (storage, { puts = [], records = [], ...change }) =>
        Effect.map(
          storage.commit({
            ...change,
            puts: puts.filter(({ collection }) => collection === BREAKERS),
            records: records.filter(({ kind }) => kind === "breaker.tripped")
          }),
          ({ head, records: kept }) => ({ head, records: records.map((_, index) => kept[index] ?? kept[0]!) })
        )
      )
  },
  {
    what: "a store that writes another number of samples than a breaker tripped on",
    foundBy: "breakers",
    says: /trips on .* it comes to/,
    options: brokenOften,
    ports: () =>
      withCommit("breaker.tripped", (storage, { puts = [], records = [], ...change }) =>
        storage.commit({
          ...change,
          puts: puts.map((put) =>
            put.collection === BREAKERS
              ? { ...put, body: { ...put.body, trip: { ...(put.body["trip"] as object), samples: 99 } } }
              : put
          ),
          records: records.map((record): RecordDraft =>
            record.kind === "breaker.tripped" ? { ...record, body: { ...record.body, samples: 99 } } : record
          )
        })
      )
  },
  {
    what: "a store that acknowledges the release of a breaker and does not write it",
    foundBy: "breakers",
    says: /is released 0 times, of \d+ tries [1-9]/,
    options: brokenOften,
    ports: () =>
      withCommit("breaker.released", (storage) =>
        Effect.map(Effect.orDie(storage.head), (head) => ({ head: head!, records: [{ ...head!, duplicate: false }] }))
      )
  },
  {
    what: "a store that lists breakers without the activation that their last trip names",
    foundBy: "breakers",
    says: /host \d shows .* the records say/,
    options: brokenOften,
    ports: () =>
      withStorage(({ find }) => ({
        find: (collection, key, value) =>
          Effect.map(find(collection, key, value), (found) =>
            collection !== BREAKERS
              ? found
              : found.map((one) => {
                  const { lastActivationId } = storedBreaker(one).body
                  return lastActivationId === null ? one : { ...one, body: { ...one.body, lastActivationId: null } }
                })
          )
      }))
  },
  {
    what: "a store that keeps the promise of a quota that is settled",
    foundBy: "quotas",
    says: /counts -?\d+, where it comes to/,
    options: metered,
    ports: () =>
      withStorage(({ commit }) => ({
        commit: ({ deletes = [], ...change }) =>
          commit({ ...change, deletes: deletes.filter(({ collection }) => collection !== "reservations") })
      }))
  },
  {
    what: "a store that counts above a limit",
    foundBy: "quotas",
    says: /counts \d+ of 40/,
    options: metered,
    ports: () =>
      withStorage(({ commit }) => ({
        commit: ({ counts = [], ...change }) =>
          commit({ ...change, counts: counts.map(({ add, name }) => ({ add, name })) })
      }))
  },
  {
    what: "a store that forgets what an evaluation's client_ref is for",
    foundBy: "evaluations",
    says: /is evaluated \d times/,
    ports: () =>
      withCommit("evaluation.made", (storage, { records = [], ...change }) =>
        storage.commit({ ...change, records: records.map(({ once: _, ...record }): RecordDraft => record) })
      )
  },
  ...brokenStops,
  ...brokenReviews,
  ...brokenFleet
]
