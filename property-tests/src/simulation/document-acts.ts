/** Acts on documents, noted in the ledger. Every number is a choice of the seed. */
import { type GovernorServices, systemHost } from "@flyball/core"
import type { Storage } from "@flyball/core/storage"
import { toBase64, utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import { Documents, type DocumentsApi } from "../../../packages/platform/src/documents/service.ts"
import { clerkOf } from "./clerks.ts"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import { lineOf } from "./ledger.ts"

/** The counter that gets a unit back for each document that a host lost. */
export const COUNTED = "documents of the simulation"

/** The cast: hosts of these runs have the platform's services, which their type does not say. */
const using = <A, E>(use: (documents: DocumentsApi) => Effect.Effect<A, E, GovernorServices | Storage>) =>
  Documents.use(use) as Effect.Effect<A, E, GovernorServices | Storage>

/** An invoice that says its own total: no two of them are the same. */
const invoiceOf = (number: string, total: string): string =>
  [
    "Example Supplies Ltd",
    "",
    "Invoice",
    `Invoice number: ${number}`,
    "Invoice date: 2026-04-03",
    "",
    `Total             ${total} EUR`
  ].join("\n")

const extract: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, name, pick } = client
  const agentId = pick(2) === 0 ? null : yield* clerkOf(client)
  const total = `${100 + pick(900)}.${10 + pick(90)}`
  const text = invoiceOf(`INV-${name}-${turn}`, total)
  const line = lineOf(ledger.documents, text, () => ({ tries: 0, acknowledged: 0, total, agentId }))
  const caller = {
    account: { agentId, plan: "starter", reservation: { name: COUNTED } },
    received: null,
    writer: Effect.succeed(systemHost)
  } as never
  const body = { content: toBase64(utf8(text)), media_type: "text/plain" }
  const options = { documentType: null, waitS: 4 * pick(2), retain: pick(2) === 0, model: null }
  const answer = yield* ask(
    client,
    "extract",
    using((documents) => documents.extract("ops", body, options, caller)),
    line
  )
  if (answer === null) return
  if (answer.done) {
    line.acknowledged += 1
    note(client, answer.value, null)
  } else if (answer.refusal._tag !== "ExtractionDenied" && answer.refusal._tag !== "RateLimitExceeded")
    yield* unexpected(client, "extract", answer.refusal._tag)
})

/** Notes what somebody was answered of an extraction. `before`: what was known when they began to ask. */
const note = (
  { ledger }: Client,
  { fields, id, status }: { readonly id: string; readonly status: string; readonly fields: object },
  before: string | null
): void => {
  const end = status === "queued" || status === "processing" ? null : `${status} ${JSON.stringify(fields)}`
  if (before !== null && end !== before) ledger.problem(`extractions: ${id} was ${before}, and later ${end ?? status}`)
  ledger.extractions.set(id, ledger.extractions.get(id) ?? end)
}

const see: Act = Effect.fnUntraced(function* (client) {
  const latest = [...client.ledger.extractions].slice(-6)
  const [id, before] = latest[client.pick(Math.max(1, latest.length))] ?? [null, null]
  if (id === null) return
  const answer = yield* ask(
    client,
    "see extraction",
    using((documents) => documents.get("ops", id))
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "see extraction", answer.refusal._tag))
  note(client, answer.value, before)
})

/** The acts by name. */
export const documentActs = { extract, seeExtraction: see } satisfies { readonly [name: string]: Act }
