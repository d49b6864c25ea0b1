/** The demo's chapter on governance: a signed card, another owner, and an agent that nobody answers for. */
import { generateKeyPairSync, sign } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { openSuspended } from "./week-later.ts"
import { type RunningServer, startServer } from "./server.ts"

/** Result of this step. */
export interface Governed {
  readonly card: { readonly agent: string; readonly verdict: string; readonly forged: string }
  readonly transferred: { readonly agent: string; readonly owner: string }
  readonly orphan: {
    readonly agent: string
    readonly refused: string
    readonly suspended: string
    readonly reason: string
    readonly by: string
  }
}

/** Where the demo's server reads keys that vouch for agents. */
export const trustFolderOf = (folder: string): string => `${folder}/trust`

/** Makes the key that will vouch for an agent, and puts its public half into the server's trust folder. */
export const makeVoucher = (folder: string) => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  mkdirSync(trustFolderOf(folder), { mode: 0o700 })
  writeFileSync(`${trustFolderOf(folder)}/directory.pem`, publicKey.export({ type: "spki", format: "pem" }), {
    mode: 0o600
  })
  return (card: string) => ({
    card: Buffer.from(card).toString("base64"),
    signature: sign(null, Buffer.from(card), privateKey).toString("base64"),
    key_id: "directory"
  })
}

interface Agent {
  readonly id: string
  readonly name: string
}

/** Governs two agents, lets a week pass for the second, and answers a server that continues. */
export const govern = async (
  folder: string,
  server: RunningServer,
  admin: string,
  voucher: ReturnType<typeof makeVoucher>,
  [owned, orphan]: readonly [Agent, Agent]
) => {
  const act = async (what: string, path: string, body?: unknown) => {
    const { bytes, json, status } = await server.call("POST", `/api/v1/agents/${path}`, admin, body)
    if (status >= 300 && status !== 409)
      throw new Error(`${what} answered ${status}: ${new TextDecoder().decode(bytes).slice(0, 500)}`)
    return json
  }
  const card = voucher(JSON.stringify({ name: owned.name, version: "1.0" }))
  const verdict = await act("a signed card", `${owned.id}/identity`, { signed_card: card })
  const forged = await act("a card with another signature", `${owned.id}/identity`, {
    signed_card: { ...card, signature: Buffer.alloc(64, 1).toString("base64") }
  })
  const { owner_name } = await act("a transfer", `${owned.id}/transfer-ownership`, {
    owner_name: "Grace Hopper",
    owner_email: "grace@example.org"
  })
  await act("an activation", `${owned.id}/activate`)
  const { code, missing } = await act("the activation of an agent without an owner", `${orphan.id}/activate`)

  await server.stop()
  const suspended = await openSuspended(folder)
  const again = await startServer(folder)
  const after = (await again.call("GET", `/api/v1/agents/${orphan.id}`, admin)).json
  const [record] = (await again.call("GET", "/api/v1/chain/records?kind=agent.suspended", admin)).json
  const governed: Governed = {
    card: {
      agent: owned.name,
      verdict: `${verdict.verdict} (${verdict.reason_code})`,
      forged: `${forged.verdict} (${forged.reason_code})`
    },
    transferred: { agent: owned.name, owner: owner_name },
    orphan: {
      agent: orphan.name,
      refused: `${code}: ${missing.join(", ")}`,
      suspended: String(suspended),
      reason: `${after.status}, ${after.suspended_reason}`,
      by: record.body.writer
    }
  }
  return { governed, server: again }
}
