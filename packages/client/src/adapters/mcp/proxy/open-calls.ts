/**
 * Requests whose stream ended before their answer: a server of revision 2025-11-25 may close a stream after an event
 * with an id, and answer on a later one. Spec: decision 0066.
 */
import type { ClientClock } from "../../../clock.ts"
import type { Answered } from "../calls.ts"
import { type JsonRpcRequest, keyOfId, type RequestId } from "../json-rpc.ts"

/** How long an answer is awaited after the last stream of a request ended. Unit: milliseconds. */
export const OPEN_CALL_MS = 600_000

/** Requests that are kept open. One more gives up the oldest. */
const MAX_OPEN = 1_000

/** A request whose answer may come on a later stream. */
export interface OpenCall {
  readonly request: JsonRpcRequest
  /** The session of its client; null where there is none. */
  readonly session: string | null
  /** Ids of the events of its streams, by any of which a client goes on. */
  readonly eventIds: Set<string>
  /** Takes the server's answer, and resolves with what the client gets in its place; null: nothing. */
  readonly settle: (answered: Answered) => Promise<Answered | null>
  /** Nobody knows how it ended. */
  readonly giveUp: (reason: string) => void
}

/** The requests of one proxy that are open. */
export interface OpenCalls {
  readonly add: (call: OpenCall) => void
  /** The request whose stream a client resumes after this event. */
  readonly resumedBy: (session: string | null, lastEventId: string) => OpenCall | null
  /** An event of a resumed stream came: the time begins anew. */
  readonly goesOn: (call: OpenCall, eventId: string) => void
  /** Takes the request that an answer is for: of the resumed stream, or of the session. */
  readonly take: (id: RequestId | null, session: string | null, resumed: OpenCall | null) => OpenCall | null
  readonly end: (reason: string) => void
}

/** Keeps no request open yet. */
export const makeOpenCalls = (clock: Pick<ClientClock, "after">, openMs = OPEN_CALL_MS): OpenCalls => {
  const open = new Map<OpenCall, () => void>()

  const forget = (call: OpenCall): void => {
    open.get(call)?.()
    open.delete(call)
  }
  const giveUp = (call: OpenCall, reason: string): void => {
    forget(call)
    call.giveUp(reason)
  }
  const wait = (call: OpenCall): void => {
    open.get(call)?.()
    const reason = `The stream of the call ended, and no answer came within ${openMs / 60_000} minutes.`
    open.set(
      call,
      clock.after(openMs, () => giveUp(call, reason))
    )
  }
  return {
    add: (call) => {
      wait(call)
      if (open.size > MAX_OPEN)
        giveUp(open.keys().next().value!, `More than ${MAX_OPEN} calls wait for a later answer.`)
    },
    resumedBy: (session, lastEventId) =>
      [...open.keys()].find((one) => one.session === session && one.eventIds.has(lastEventId)) ?? null,
    goesOn: (call, eventId) => {
      if (!open.has(call)) return
      call.eventIds.add(eventId)
      wait(call)
    },
    take: (id, session, resumed) => {
      const isFor = ({ request }: OpenCall): boolean => keyOfId(request.id) === keyOfId(id)
      const found =
        resumed !== null && open.has(resumed) && isFor(resumed)
          ? resumed
          : [...open.keys()].find((one) => session !== null && one.session === session && isFor(one))
      if (found === undefined) return null
      forget(found)
      return found
    },
    end: (reason) => {
      for (const call of open.keys()) giveUp(call, reason)
    }
  }
}
