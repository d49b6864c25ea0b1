/**
 * Governance of the service: one governor, one agent, one envelope, one guarded call, as a provider of the container.
 */
import { createHash, generateKeyPairSync, sign, timingSafeEqual } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { type AgentClient, type AgentInfo, type Governor, type Guarded, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { dataFolder, trustFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { Injectable, type OnModuleDestroy, type OnModuleInit } from "@nestjs/common"
import { ENVELOPE } from "./envelope.js"

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/**
 * The API for operators outside this program, below `/flyball`. One operator with one token; a real service has its own
 * sessions, or an OpenID provider. Without a token nobody gets in.
 */
const openOperations = (governor: Governor, token: string | undefined): HttpApi =>
  openHttp(governor, {
    prefix: "/flyball",
    authentication: {
      authenticate: ({ headers }) => {
        const given = headers.get("x-operator-token") ?? ""
        if (token === undefined || !timingSafeEqual(digest(given), digest(token))) return null
        return { subject: "olga@example.org", grants: [{ role: "operator", org_unit: "*" }] }
      }
    }
  })

/**
 * Vouches for the agent: a tool of the class `money` acts alone from L3 on, which needs a verified identity. Here a key
 * of the first start signs; a real organisation keeps such a key elsewhere, and signs with `flyball card sign`.
 */
const vouch = async (governor: Governor, agent: AgentInfo, trust: string): Promise<void> => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  writeFileSync(`${trust}/acme.pem`, publicKey.export({ type: "spki", format: "pem" }), { mode: 0o600 })
  const card = Buffer.from(JSON.stringify({ name: agent.name }))
  const signature = sign(null, card, privateKey).toString("base64")
  await governor.agents.attachIdentity(
    agent.id,
    { signed_card: { card: card.toString("base64"), signature, key_id: "acme" } },
    { writer: "system:ben" }
  )
}

@Injectable()
export class Governance implements OnModuleInit, OnModuleDestroy {
  #governor: Governor | null = null
  #operations: HttpApi | null = null
  #client: AgentClient | null = null

  /** Nest opens it before the first request, and closes it with the application. */
  get governor(): Governor {
    if (this.#governor === null) throw new Error("The governor is not open yet.")
    return this.#governor
  }

  get operations(): HttpApi {
    if (this.#operations === null) throw new Error("The governor is not open yet.")
    return this.#operations
  }

  /** Opens the governor. Each step does what is missing, so that a start which failed half-way continues. */
  async onModuleInit(): Promise<void> {
    const folder = process.env["DATA_DIR"] ?? "./data"
    const trust = `${folder}/trust`
    mkdirSync(trust, { recursive: true, mode: 0o700 })
    const governor = await openGovernor({
      storage: sqliteStorage({ file: `${folder}/governance.db` }),
      keys: dataFolder({ dir: `${folder}/keys` }),
      trustStore: trustFolder({ dir: trust }),
      origin: "flyball.example/acme/refunds"
    })
    this.#governor = governor
    this.#operations = openOperations(governor, process.env["OPERATOR_TOKEN"])
    this.#client = await governor.client({
      agent: { name: "refund-bot", org_unit: "support", owner_name: "Ada Lovelace", owner_email: "ada@example.org" }
    })
    const { agent } = this.#client
    // One person writes it, another publishes it. In a real service these are two people, not two words.
    await governor.envelopes.ensure(
      { name: "Refunds", agent_id: agent.id, envelope: ENVELOPE },
      { writer: "system:ada", approver: "system:ben" }
    )
    if (!agent.identity_verified) await vouch(governor, agent, trust)
    if (agent.status === "draft") {
      await governor.agents.update(agent.id, { autonomy_tier: "L3" }, { writer: "system:ben" })
      await governor.agents.activate(agent.id, { writer: "system:ben" })
    }
  }

  async onModuleDestroy(): Promise<void> {
    await this.#operations?.close()
    await this.#governor?.close()
  }

  /** Runs a tool only where the agent may. `ref` names the intent: the same `ref` again acts once. */
  async guarded<A>(tool: string, ref: string, args: object, act: () => Promise<A>): Promise<Guarded<A>> {
    if (this.#client === null) throw new Error("The governor is not open yet.")
    return this.#client.guard({ name: tool, ref }, args, act)
  }
}
