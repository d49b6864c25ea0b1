/**
 * The thread that answers questions about envelopes and behaviour, one after another. No Effect in it: it starts when
 * somebody waits.
 */
import { parentPort } from "node:worker_threads"
import { answer, type Rows, withRows } from "@flyball/core/examination"
import type { Requested, Replied } from "./examiner-protocol.ts"

const port = parentPort!
let rows: Rows = []

const replyTo = ({ about, kind, limits }: Extract<Requested, { readonly op: "ask" }>): Replied => {
  const whole = withRows(about, rows)
  rows = []
  try {
    return { ok: true, answer: answer({ kind, about: whole }, limits) }
  } catch (cause) {
    return { ok: false, reason: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }
  }
}

port.on("message", (requested: Requested) => {
  if (requested.op === "rows") rows = [...rows, ...requested.rows] as Rows
  else port.postMessage(replyTo(requested))
})
