/**
 * The outbox while one group is admitted: what was looked up, what the ChangeSets admitted so far did, and the rows
 * that makes.
 */
import {
  type Debts,
  type NewDelivery,
  type NewEvent,
  type OutboxDraft,
  type OutboxView,
  owe,
  wanted
} from "@flyball/core/thread"
import {
  compareText,
  type DeliveryMove,
  type DeliveryState,
  type DocumentPut,
  type Head,
  WEBHOOKS
} from "@flyball/core/storage"

/** A delivery that some ChangeSet of the group moves. */
interface Standing {
  readonly state: DeliveryState
  readonly attempts: number
  readonly endpointId: string
  readonly sequence: number
  readonly nextAttemptAtMs: number | null
}

/** Result of an attempt. */
export type EndedAttempt = NonNullable<DeliveryMove["ended"]> & {
  readonly endpointId: string
  readonly sequence: number
}

/** A delivery that the group adds; it may be cancelled by a later ChangeSet of the same group. */
export type AddedDelivery = NewDelivery & { readonly cancelled: boolean }

/** One per attempt. It answers only what was read from the database or done by the group. */
export class GroupOutbox implements OutboxView, Debts {
  lastEventId: string | null = null
  readonly #standing = new Map<string, Standing>()
  readonly #events = new Set<string>()
  /** Endpoints by look-up key, for the keys that the group has events for. */
  readonly #wanting = new Map<string, Set<string>>()
  readonly #sequences = new Map<string, number>()
  /**
   * Endpoints whose pending deliveries are cancelled. Writes have an order of their own: cancellations first, then
   * everything else.
   */
  readonly cancelled = new Set<string>()
  /** Endpoints of which no answer is kept: among those that are cancelled. */
  readonly forgotten = new Set<string>()
  readonly moved = new Map<string, Standing>()
  /** Deliveries that may be pending in the database and are not where they were any more. */
  readonly unqueued = new Set<string>()
  readonly ended: Array<EndedAttempt> = []
  readonly events: Array<NewEvent & { readonly head: Head; readonly atMs: number }> = []
  readonly deliveries: Array<AddedDelivery> = []
  readonly sequences = new Map<string, number>()

  get isEmpty(): boolean {
    return this.cancelled.size + this.moved.size + this.events.length + this.deliveries.length === 0
  }

  delivery(id: string): Standing | null {
    return this.#standing.get(id) ?? null
  }

  hasEvent(id: string): boolean {
    return this.#events.has(id)
  }

  wanting(key: string): ReadonlyArray<string> {
    return [...(this.#wanting.get(key) ?? [])].sort(compareText)
  }

  lastSequence(endpointId: string): number {
    return this.#sequences.get(endpointId) ?? 0
  }

  knowDelivery(id: string, standing: Standing): void {
    this.#standing.set(id, standing)
  }

  knowEvent(id: string): void {
    this.#events.add(id)
  }

  /** Endpoints that get a key afterwards are found in {@link knowWanting} or in the group's own puts. */
  knowKey(key: string): void {
    if (!this.#wanting.has(key)) this.#wanting.set(key, new Set())
  }

  knowWanting(key: string, endpointId: string): void {
    this.#wanting.get(key)?.add(endpointId)
  }

  knowSequence(endpointId: string, sequence: number): void {
    this.#sequences.set(endpointId, sequence)
  }

  /** Takes note of endpoints as the puts of one ChangeSet leave them. */
  put(puts: ReadonlyArray<DocumentPut>): void {
    for (const { collection, id, keys, unique } of puts) {
      if (collection !== WEBHOOKS) continue
      for (const [key, endpoints] of this.#wanting) {
        if (keys?.[key] === wanted || unique?.[key] === wanted) endpoints.add(id)
        else endpoints.delete(id)
      }
    }
  }

  /** Does what an admitted ChangeSet asks, once its puts are noted. A `repeat` emits nothing. */
  write(
    draft: OutboxDraft,
    repeat: boolean,
    head: Head,
    atMs: number,
    sha256: (bytes: Uint8Array) => Uint8Array
  ): void {
    for (const move of draft.moves) this.#move(move)
    for (const { endpointId, forgetAnswers } of draft.cancel) {
      this.#cancel(endpointId)
      if (forgetAnswers === true) this.forgotten.add(endpointId)
    }
    if (repeat) return
    const { deliveries, events, sequences } = owe(draft, this, atMs, sha256)
    for (const event of events) {
      this.events.push({ ...event, head, atMs })
      this.#events.add(event.id)
      this.lastEventId = event.id
    }
    for (const delivery of deliveries) this.deliveries.push({ ...delivery, cancelled: false })
    for (const [endpointId, sequence] of sequences) {
      this.#sequences.set(endpointId, sequence)
      this.sequences.set(endpointId, sequence)
    }
  }

  #move({ ended, from, id, to }: DeliveryMove): void {
    const { attempts, endpointId, sequence } = this.#standing.get(id)!
    this.#stand(id, {
      state: to.state,
      attempts,
      endpointId,
      sequence,
      nextAttemptAtMs: to.state === "pending" ? to.nextAttemptAtMs : null
    })
    if (ended !== undefined) this.ended.push({ ...ended, endpointId, sequence })
    if (from.state === "pending") this.unqueued.add(id)
  }

  #stand(id: string, standing: Standing): void {
    this.#standing.set(id, standing)
    this.moved.set(id, standing)
  }

  /**
   * Cancels an endpoint's deliveries. Deliveries that the group has not read are cancelled by a statement of its own,
   * which runs before all others.
   */
  #cancel(endpointId: string): void {
    this.cancelled.add(endpointId)
    for (const [id, standing] of this.#standing) {
      if (standing.endpointId === endpointId && standing.state === "pending")
        this.#stand(id, { ...standing, state: "cancelled", nextAttemptAtMs: null })
    }
    this.deliveries.forEach((delivery, index) => {
      if (delivery.endpointId === endpointId) this.deliveries[index] = { ...delivery, cancelled: true }
    })
  }
}
