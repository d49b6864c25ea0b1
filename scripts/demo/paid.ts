/** The demo's chapter on documents: a real invoice that bounds what its agent may pay. */
import { readFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import type { RunningServer } from "./server.ts"

/** Result of this step. */
export interface Paid {
  readonly document: { readonly type: string; readonly vendor: string; readonly number: string }
  readonly total: string
  readonly currency: string
  readonly iban: string
  /** The outcomes of payments. */
  readonly equal: string
  readonly above: string
  /** A cent above, where the agent states another total itself. */
  readonly lied: string
  /** The same amount without an invoice. */
  readonly unnamed: string
}

const invoice = readFileSync(new URL("../../fixtures/invoices/coolblue1.pdf", import.meta.url))
const POLL_MS = 200
const READ_MS = 60_000

const cents = { type: "int", min: 0, max: 100_000_000, unit: "EUR/100" } as const
/** Reads documents, and schedules payments that are no higher than what the server read. */
const envelope = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["documents.extract", "schedule_payment"], source: "caller" },
    amount: { ...cents, source: "args", from: "/amount", on_missing: 0 },
    document_total: { ...cents, source: "server", on_missing: 0 }
  },
  derived: { excess: { fn: "difference@1", args: ["amount", "document_total"] } },
  effects: { "documents.extract": "read", schedule_payment: "write_reversible" },
  rules: [
    { id: "read", outcome: "allow", when: [{ signal: "tool", eq: "documents.extract" }] },
    {
      id: "billed",
      outcome: "allow",
      when: [
        { signal: "tool", eq: "schedule_payment" },
        { signal: "excess", lte: 0 }
      ]
    }
  ],
  default: { outcome: "deny" }
}

/** Has an agent read the invoice, and try to pay it, and more. */
export const paid = async ({
  admin,
  key,
  server
}: {
  readonly admin: string
  readonly key: string
  readonly server: RunningServer
}): Promise<Paid> => {
  const call = async (method: string, path: string, token: string, body?: unknown) => {
    const { bytes, json, status } = await server.call(method, path, token, body)
    if (status >= 300) throw new Error(`${path} answered ${status}: ${new TextDecoder().decode(bytes).slice(0, 500)}`)
    return json
  }
  const ben = (await server.flyball("token", "--role", "governor", "--sub", "ben")).stdout.trim()
  const owner = { owner_name: "Ada Lovelace", owner_email: "ada@example.org" }
  const agent = await call("POST", "/api/v1/agents", admin, { name: "payer", org_unit: "support", ...owner })
  const draft = { name: "Pay what is billed", agent_id: agent.id, envelope }
  const { id: envelopeId } = await call("POST", "/api/v1/bound/envelopes", admin, draft)
  await call("POST", `/api/v1/bound/envelopes/${envelopeId}/publish`, ben, {})
  await call("PATCH", `/api/v1/agents/${agent.id}`, ben, { autonomy_tier: "L2" })
  await call("POST", `/api/v1/agents/${agent.id}/activate`, admin)

  const scopes = ["documents:read", "documents:write"]
  const wanted = { name: "payer", org_unit: "support", plan: "starter", scopes, agent_id: agent.id }
  const books = (await call("POST", "/api/v1/admin/platform-keys", admin, wanted)).key
  // The body is the document itself.
  const taken = await fetch(`${server.address}/v1/documents/extract?wait=10&retain=true`, {
    method: "POST",
    headers: { authorization: `Bearer ${books}`, "content-type": "application/pdf" },
    body: invoice
  })
  let extraction = (await taken.json()) as any
  if (taken.status !== 201) throw new Error(`the invoice answered ${taken.status}: ${JSON.stringify(extraction)}`)
  for (let waited = 0; extraction.completed_at === null && waited < READ_MS; waited += POLL_MS) {
    await pause(POLL_MS)
    extraction = await call("GET", `/v1/documents/extractions/${extraction.id}`, books)
  }
  const { currency, iban, invoice_number: number, total, vendor } = extraction.fields
  const billed = Math.round(Number(total.value) * 100)
  let tries = 0
  const pay = async (amount: number, more: { readonly extraction_id?: string; readonly signals?: object }) => {
    const { signals = {}, ...named } = more
    const { matched_rule: rule, outcome } = await call("POST", "/api/v1/bound/evaluations", key, {
      agent_id: agent.id,
      client_ref: `payment-${tries++}`,
      action: "schedule_payment",
      args: { amount },
      signals: { tool: "schedule_payment", ...signals },
      ...named
    })
    return `${outcome} by ${rule}`
  }
  const of = { extraction_id: extraction.id }
  return {
    document: { type: extraction.document_type, vendor: vendor.value, number: number.value },
    total: total.value,
    currency: currency.value,
    iban: iban.value,
    equal: await pay(billed, of),
    above: await pay(billed + 1, of),
    lied: await pay(billed + 1, { ...of, signals: { document_total: billed + 1 } }),
    unnamed: await pay(billed, {})
  }
}

/** Its lines of the page. */
export const paidLines = ({
  above,
  currency,
  document: { number, type, vendor },
  equal,
  iban,
  lied,
  total,
  unnamed
}: Paid): ReadonlyArray<string> => [
  "An agent may pay what is billed: a real PDF was read in a process of its own, without a model. It is an " +
    `${type} of ${vendor}, number ${number}, over ${total} ${currency}; of the IBAN it shows ${iban}.`,
  `The agent names the document, and the server fills in its total. To pay exactly that: ${equal}, since at tier L2 ` +
    `somebody is notified. One cent more: ${above}. One cent more, with a total that the agent states: ${lied}. ` +
    `Without a document: ${unnamed}.`,
  "The replay above computed the fields again from the text that was read."
]
