/** Extraction as callers of `/v1` see it, with the real child that reads, and an envelope that reads an invoice. */
import { type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, it } from "vitest"
import { platform } from "../index.ts"

const pdf = readFileSync(new URL("../../../../fixtures/invoices/coolblue1.pdf", import.meta.url))
const [label] = JSON.parse(
  readFileSync(new URL("../../../../fixtures/invoices/coolblue1.json", import.meta.url), "utf8")
) as ReadonlyArray<{ readonly amount: number }>
const PDF = "application/pdf"

let governor: Governor
let api: HttpApi
let key: string
beforeAll(async () => {
  governor = await openGovernor({
    storage: memoryStorage(),
    log: () => undefined,
    capabilities: [platform({ documents: {} })]
  })
  api = openHttp(governor)
  key = await keyOf("ops")
})
afterAll(() => governor.close())

const keyOf = async (org_unit: string) =>
  (await governor.platformKeys.mint({ name: "k", org_unit, plan: "enterprise", scopes: ["*"] })).key
interface Sent {
  readonly body?: BodyInit
  readonly type?: string
  readonly method?: string
  readonly headers?: { readonly [name: string]: string }
  readonly as?: string
}
const send = async (path: string, { as = key, body, headers = {}, method, type = "application/json" }: Sent = {}) => {
  const response = await api.fetch(
    new Request(`http://host.example/v1/${path}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: { authorization: `Bearer ${as}`, ...(body === undefined ? {} : { "content-type": type }), ...headers },
      ...(body === undefined ? {} : { body, duplex: "half" })
    } as RequestInit)
  )
  return { status: response.status, json: JSON.parse(await response.text()) as any }
}
const EXTRACT = "documents/extract?wait=10"
const used = async (): Promise<number> => (await send("usage")).json.documents_processed

it("reads a real invoice, masks its IBAN, reveals it on record, and shows it to its org unit alone", async () => {
  const { json, status } = await send(EXTRACT, { body: pdf, type: PDF })
  assert.strictEqual(status, 201, JSON.stringify(json))
  assert.deepInclude(json, { status: "completed", document_type: "invoice", agent_id: null, error: null })
  assert.strictEqual(Number(json.fields.total.value), label!.amount)
  assert.match(json.fields.iban.value, /^[*•]+.{4}$/)
  const listed = (await send("documents/extractions?status=completed")).json.data
  assert.deepStrictEqual(
    listed.map(({ fields, id }: any) => [id, fields.iban.value]),
    [[json.id, json.fields.iban.value]]
  )
  const revealed = await send(`documents/extractions/${json.id}/reveal`, { method: "POST" })
  assert.match(revealed.json.fields.iban, /^[A-Z]{2}\d\d/)
  const [event] = (await send("events?type=extraction.completed")).json.data
  assert.strictEqual(event.data.fields.iban, json.fields.iban.value)
  const other = await keyOf("sales")
  assert.strictEqual((await send(`documents/extractions/${json.id}`, { as: other })).status, 404)
  const refused = await send(`documents/extractions/${json.id}/reveal`, { method: "POST", as: other })
  assert.strictEqual(refused.status, 404)
})

it("takes a document once under its Idempotency-Key, as base64 too, and counts each that it read", async () => {
  const before = await used()
  const headers = { "idempotency-key": "one" }
  const first = await send("documents/extract", { body: pdf, type: PDF, headers })
  assert.deepStrictEqual((await send("documents/extract", { body: pdf, type: PDF, headers })).json, first.json)
  const body = JSON.stringify({ content: pdf.toString("base64"), media_type: PDF })
  assert.strictEqual((await send(EXTRACT, { body })).json.status, "completed")
  assert.strictEqual(await used(), before + 2)
})

it("fails a broken document with its code, and refuses what is none", async () => {
  const broken = (await send(EXTRACT, { body: pdf.subarray(0, pdf.length / 2), type: PDF })).json
  assert.deepStrictEqual([broken.status, broken.error.code], ["failed", "malformed"])
  const empty = (await send(EXTRACT, { body: " ", type: "text/plain" })).json
  assert.strictEqual(empty.error.code, "no_text")
  const [event] = (await send("events?type=extraction.failed")).json.data
  assert.strictEqual(event.data.id, empty.id)
  const film = await send(EXTRACT, { body: pdf, type: "video/mp4" })
  assert.strictEqual(film.status, 415)
  assert.include(film.json.error.message, "application/pdf, ")
  const wrong: ReadonlyArray<readonly [object, string]> = [
    [{}, "content"],
    [{ content: "%%%", media_type: PDF }, "content"],
    [{ content: "aGk=", url: "https://a.example", media_type: PDF }, "content"],
    [{ content: "aGk=", media_type: "video/mp4" }, "media_type"]
  ]
  for (const [body, param] of wrong) {
    const { json, status } = await send(EXTRACT, { body: JSON.stringify(body) })
    assert.strictEqual(status, 400, `${JSON.stringify(body).slice(0, 80)} ${JSON.stringify(json)}`)
    assert.strictEqual(json.error.param, param)
  }
  assert.strictEqual((await send("documents/extract?wait=11", { body: pdf, type: PDF })).json.error.param, "wait")
})

it("brings what an invoice says before a person, and denies a cent more", async () => {
  const { agent } = await governor.agents.register({
    name: "payer",
    org_unit: "ops",
    owner_name: "Ann",
    owner_email: "ann@ops.example",
    autonomy_tier: "L2"
  })
  const cents = { min: 0, max: 100_000_000, unit: "EUR/100" } as const
  const envelope = await governor.envelopes.create({
    name: "pay what the invoice says",
    agent_id: agent.id,
    envelope: {
      semantics: "envelope/1",
      signals: {
        tool: { type: "enum", values: ["pay"], source: "caller" },
        amount: { type: "int", ...cents, source: "args", from: "/amount" },
        document_total: { type: "int", ...cents, source: "server" }
      },
      derived: { excess: { fn: "difference@1", args: ["amount", "document_total"] } },
      effects: { pay: "money" },
      rules: [
        {
          id: "billed",
          outcome: "allow",
          when: [
            { signal: "tool", eq: "pay" },
            { signal: "excess", lte: 0 }
          ]
        }
      ],
      default: { outcome: "deny" }
    }
  } as never)
  await governor.envelopes.publish(envelope.id, {}, { writer: "system:ben" })
  await governor.agents.activate(agent.id)
  const { id } = (await send(EXTRACT, { body: pdf, type: PDF })).json
  let at = 0
  const pay = async (amount: number, more: object = { extraction_id: id }) => {
    const intent = { agent_id: agent.id, client_ref: `pay-${at++}`, action: "pay", signals: { tool: "pay" } }
    const { matched_rule: rule, outcome } = await governor.evaluate({
      ...intent,
      args: { amount },
      ...more
    })
    return [outcome, rule]
  }
  const cent = Math.round(label!.amount * 100)
  // At L2 a person decides what the rule allows; what it does not allow reaches nobody.
  assert.deepStrictEqual(await pay(cent), ["require_review", "@tier_floor"])
  assert.deepStrictEqual(await pay(cent + 1), ["deny", "@default"])
  assert.strictEqual((await pay(cent, {}))[0], "deny", "an invoice that nobody names pays nothing")
  assert.strictEqual((await pay(cent, { signals: { tool: "pay", document_total: cent } }))[0], "deny")
  await send(EXTRACT, { body: pdf.subarray(0, 900), type: PDF })
  const [failed] = (await send("documents/extractions?status=failed")).json.data
  const refused = await pay(cent, { extraction_id: failed.id }).catch((error: { readonly code: string }) => error.code)
  assert.strictEqual(refused, "invalid_input")
  assert.deepStrictEqual((await governor.check()).differences, [])
})
