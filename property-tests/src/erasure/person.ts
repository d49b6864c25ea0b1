/** A person's data on its way through a server: everywhere a caller can put a text, and the calls that take it back. */
import type { RunningServer } from "../../../apps/server/src/cli/testing/commands.ts"

/** A caller with a token, so that many calls need one. */
export type Call = (method: string, path: string, body?: unknown) => Promise<{ readonly status: number; readonly text: string }>

/** Calls the server with this token. */
export const callerOf = (server: RunningServer, token: string): Call => async (method, path, body) => {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }, ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, text: await response.text() }
}

/**
 * Puts `marker` wherever a text may go: an agent's texts, decisions alone and in a batch, small and over many pages, an outcome, requests that are refused, a repeated
 * key with other content, look-ups, and packs that disclose it. Answers the seq of every record that holds it.
 */
export const scatter = async (call: Call, marker: string): Promise<ReadonlyArray<number>> => {
  const post = async (path: string, body: unknown, status: number): Promise<unknown> => {
    const answer = await call("POST", path, body)
    if (answer.status !== status) throw new Error(`Expected ${status} of ${path}, saw ${answer.status}: ${answer.text.slice(0, 300)}`)
    return answer.text.startsWith("{") ? JSON.parse(answer.text) : null
  }
  const large = `${"before ".repeat(10_000)}${marker}${" behind".repeat(10_000)}`
  const agent = await post("/agents", {
    name: `bot of ${marker}`, description: marker, owner_name: marker, owner_email: "a@example.com", org_unit: "support", purpose: large.slice(68_500, 71_500), labels: { [marker]: marker }
  }, 201) as { readonly id: string }
  const identity = await post(`/agents/${agent.id}/identity`, { declared_source: marker, declared_ref: `of ${marker}` }, 201) as { readonly seq: number }
  const claimed = await post(`/agents/${agent.id}/identity`, { signed_card: a2aCard(marker) }, 201) as { readonly seq: number }
  const decisions = `/agents/${agent.id}/decisions`
  const whole = { action: "look", status: "ok", args: { text: marker, [marker]: [marker] }, result: large, labels: { about: marker } }
  const one = await post(decisions, { ...whole, client_ref: "a/0" }, 201) as Receipts
  const many = await post(decisions, { decisions: Array.from({ length: 2 }, (_, n) => ({ ...whole, args: `${n} ${marker}`, client_ref: `b/${n}` })) }, 201) as Receipts
  const settled = await post(`/decisions/${one.receipts[0]!.decision_id}/settle`, { status: "ok", result: { said: large } }, 201) as { readonly seq: number }
  await post(decisions, { ...whole, client_ref: "c/0", kind: marker }, 422)
  await post(decisions, { ...whole, client_ref: "c/1", [marker]: marker }, 422)
  await post(decisions, { ...whole, client_ref: "a/0", args: `other ${marker}` }, 409)
  await post(decisions, { client_ref: "a/0", decisions: marker }, 422)
  await call("GET", `/agents?name=${encodeURIComponent(marker)}`)
  await call("GET", `/agents/${encodeURIComponent(marker)}`)
  const pack = await post("/evidence/packs", { kind: "full", disclose: "all" }, 201) as { readonly id: string }
  const download = await call("GET", `/evidence/packs/${pack.id}`)
  if (!download.text.includes(Buffer.from(marker).toString("base64").slice(0, 8)) && !download.text.includes(marker)) throw new Error("The pack was to disclose the text.")
  return [await seqOfAgent(call), identity.seq, claimed.seq, ...one.receipts.map(({ seq }) => seq), ...many.receipts.map(({ seq }) => seq), settled.seq]
}

/** A card by a key that nobody here knows, and which is called after the person. */
const a2aCard = (marker: string): { readonly card: string } => {
  const header = Buffer.from(JSON.stringify({ alg: "EdDSA", kid: marker })).toString("base64url")
  return { card: Buffer.from(JSON.stringify({ name: marker, signatures: [{ protected: header, signature: "AAAA" }] })).toString("base64") }
}

interface Receipts {
  readonly receipts: ReadonlyArray<{ readonly seq: number; readonly decision_id: string }>
}

const seqOfAgent = async (call: Call): Promise<number> => {
  const { text } = await call("GET", "/chain/records?kind=agent.registered&limit=10")
  return (JSON.parse(text) as ReadonlyArray<{ readonly seq: number }>).at(-1)!.seq
}

/** Erases every part of these records. */
export const eraseAll = async (call: Call, seqs: ReadonlyArray<number>): Promise<number> => {
  let erased = 0
  for (const seq of seqs) {
    const { text } = await call("GET", `/chain/records/${seq}`)
    for (const { name } of (JSON.parse(text) as { readonly parts: ReadonlyArray<{ readonly name: string }> }).parts) {
      const answer = await call("POST", "/chain/erasures", { seq, name, reason: "subject_request" })
      if (answer.status !== 201) throw new Error(`Expected 201 of the erasure of ${name} of record ${seq}, saw ${answer.status}: ${answer.text.slice(0, 300)}`)
      erased += 1
    }
  }
  return erased
}
