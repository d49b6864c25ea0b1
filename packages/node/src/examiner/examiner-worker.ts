/**
 * The thread that answers questions about envelopes, one after another. No Effect in it: it starts when somebody waits.
 */
import { parentPort } from "node:worker_threads"
import { answer, type EventJson } from "@flyball/core/examination"
import type { Requested, Replied } from "./examiner-protocol.ts"

const port = parentPort!
let events: ReadonlyArray<EventJson> = []

const replyTo = ({ about, kind, limits }: Extract<Requested, { readonly op: "ask" }>): Replied => {
  const recorded = { ...about, history: { ...about.history, events } }
  events = []
  try {
    return { ok: true, answer: answer({ kind, about: recorded }, limits) }
  } catch (cause) {
    return { ok: false, reason: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }
  }
}

port.on("message", (requested: Requested) => {
  if (requested.op === "events") events = [...events, ...requested.events]
  else port.postMessage(replyTo(requested))
})
