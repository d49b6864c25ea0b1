/** Breakers as they are stored, and the one document that says whether any changed. */
import { BreakerNotFound, isId } from "@flyball/contract"
import { BREAKERS, type BreakerDocument, breakerKeys, breakerUnique } from "@flyball/rules"
import { Effect } from "effect"
import type { Scope } from "../../foundation/scope.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import type { Document, DocumentPut, JsonObject, ReadFault, StorageApi, ChangeSet } from "../../storage/port.ts"

/**
 * The document that arming, changing and releasing a breaker puts. Working state: a process that keeps which agents
 * have breakers reads it to know whether that still holds.
 */
export const BREAKER_EPOCH = { collection: "breaker_epoch", id: "deployment" } as const

/** A breaker as it was read. */
export interface StoredBreaker {
  readonly id: string
  readonly version: number
  readonly body: BreakerDocument
}

/** The breaker in a document. */
export const storedBreaker = ({ body, id, version }: Document): StoredBreaker => ({
  id,
  version,
  body: body as unknown as BreakerDocument
})

/** The put that writes a breaker whole. */
export const breakerPut = (id: string, expectedVersion: number, breaker: BreakerDocument): DocumentPut => ({
  collection: BREAKERS,
  id,
  expectedVersion,
  body: breaker as unknown as JsonObject,
  unique: breakerUnique(breaker),
  keys: breakerKeys(breaker)
})

/** The put that says that breakers changed. It conflicts with nothing. */
export const epochPut: DocumentPut = { ...BREAKER_EPOCH, expectedVersion: null, body: {} }

/** The breakers of an agent, oldest first. */
export const breakersOf = (
  storage: StorageApi,
  agentId: string
): Effect.Effect<ReadonlyArray<StoredBreaker>, ReadFault> =>
  Effect.map(storage.find(BREAKERS, "agent_id", agentId), (found) => found.map(storedBreaker))

/**
 * One breaker, as far as a caller sees its agent.
 *
 * - Fails: `BreakerNotFound` where there is none in scope.
 */
export const readBreaker = Effect.fnUntraced(function* (storage: StorageApi, id: string, scope: Scope) {
  const document = isId("breaker", id) ? yield* storage.get(BREAKERS, id) : null
  if (document === null) return yield* new BreakerNotFound({ breakerId: id })
  const stored = storedBreaker(document)
  yield* readAgent(storage, stored.body.agentId, scope).pipe(
    Effect.catchTag("AgentNotFound", () => Effect.fail(new BreakerNotFound({ breakerId: id })))
  )
  return stored
})

/** An act that was decided: the breaker after it, and the change. */
export interface BreakerPlan {
  readonly breaker: BreakerDocument
  readonly change: ChangeSet
}
