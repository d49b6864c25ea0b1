/**
 * Wakes the senders when a commit gave them something to send. In this process only: polling finds what other processes
 * commit.
 */
import { Context, Effect, Layer } from "effect"
import { type ChangeSet, Storage } from "../../storage/port.ts"
import { MAILS } from "./mails.ts"

/** The kinds of things that wait to be sent. */
export type Waiting = "deliveries" | "mails"

/** Operations of {@link OutboxListener}. */
export interface OutboxListenerApi {
  /** `events`: the types of the events that the commit wrote. */
  readonly notify: (what: Waiting, events: ReadonlyArray<string>) => void
  /** Calls `callback` at each `notify` of this kind until the answer is called. It must be quick and not throw. */
  readonly listen: (what: Waiting, callback: (events: ReadonlyArray<string>) => void) => () => void
}

/** Service that wakes the delivery engine when a commit has events. */
export class OutboxListener extends Context.Service<OutboxListener, OutboxListenerApi>()(
  "flyball/core/OutboxListener"
) {
  static readonly layer: Layer.Layer<OutboxListener> = Layer.sync(OutboxListener, () => {
    const listeners: { readonly [W in Waiting]: Set<(events: ReadonlyArray<string>) => void> } = {
      deliveries: new Set(),
      mails: new Set()
    }
    return OutboxListener.of({
      notify: (what, events) => listeners[what].forEach((callback) => callback(events)),
      listen: (what, callback) => {
        listeners[what].add(callback)
        return () => void listeners[what].delete(callback)
      }
    })
  })
}

/** The store underneath, whose commits notify the listeners when they leave something to send. */
export const notifyingStorage: Layer.Layer<Storage, never, Storage | OutboxListener> = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    const listener = yield* OutboxListener
    return Storage.of({
      ...storage,
      // What is left to send is looked up first: the closure needs nothing else of the ChangeSet. The Effect that
      // it maps holds it until the commit is over, which only acts with events pass by; decisions have none.
      commit: (change) => {
        const left = leftBy(change)
        if (left.length === 0) return storage.commit(change)
        const events = change.events?.map(({ type }) => type) ?? []
        return Effect.map(storage.commit(change), (receipt) => {
          for (const what of left) listener.notify(what, events)
          return receipt
        })
      }
    })
  })
)

const nothing: ReadonlyArray<Waiting> = []

const leftBy = ({ again, events, moves, puts }: ChangeSet): ReadonlyArray<Waiting> => {
  const deliveries =
    (events !== undefined && events.length > 0) ||
    (again !== undefined && again.length > 0) ||
    // One that waited is due now. What an attempt sends back to wait is due later, and the engine that did it knows
    // when.
    (moves !== undefined && moves.some(({ from }) => from.state === "pending"))
  const mails = puts !== undefined && puts.some(({ collection }) => collection === MAILS)
  return deliveries || mails
    ? [...(deliveries ? ["deliveries" as const] : []), ...(mails ? ["mails" as const] : [])]
    : nothing
}
