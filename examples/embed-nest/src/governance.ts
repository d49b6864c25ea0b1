/**
 * Governance of the service: one governor, one agent, one envelope, one guarded call, as a provider of the container.
 */
import { createHash, timingSafeEqual } from "node:crypto"
import { type EvaluationInput, type Governor, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { Injectable, type OnModuleDestroy, type OnModuleInit } from "@nestjs/common"
import { ENVELOPE } from "./envelope.js"

/** An intent. `ref` names it: the same `ref` again gets the first verdict, and acts once. */
export interface Intent {
  readonly ref: string
  readonly signals: { readonly tool: string; readonly amount: number }
  readonly args: { readonly [name: string]: unknown }
}

/** Result of an intent. */
export type Done =
  | { readonly done: false; readonly outcome: string; readonly rule: string | null }
  | { readonly done: true; readonly repeated: boolean; readonly record: number; readonly result?: unknown }

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

@Injectable()
export class Governance implements OnModuleInit, OnModuleDestroy {
  #governor: Governor | null = null
  #operations: HttpApi | null = null
  #agentId = ""

  /** Nest opens it before the first request, and closes it with the application. */
  get governor(): Governor {
    if (this.#governor === null) throw new Error("The governor is not open yet.")
    return this.#governor
  }

  get operations(): HttpApi {
    if (this.#operations === null) throw new Error("The governor is not open yet.")
    return this.#operations
  }

  /** Makes the agent and its envelope on the first start. */
  async onModuleInit(): Promise<void> {
    const folder = process.env["DATA_DIR"] ?? "./data"
    const governor = await openGovernor({
      storage: sqliteStorage({ file: `${folder}/governance.db` }),
      keys: dataFolder({ dir: `${folder}/keys` }),
      origin: "flyball.example/acme/refunds"
    })
    this.#governor = governor
    this.#operations = openOperations(governor, process.env["OPERATOR_TOKEN"])
    const { agent, created } = await governor.agents.register({
      name: "refund-bot",
      org_unit: "support",
      owner_name: "Ada Lovelace",
      owner_email: "ada@example.org"
    })
    this.#agentId = agent.id
    if (!created) return
    // One person writes it, another publishes it. In a real service these are two people, not two lines.
    const { id } = await governor.envelopes.create(
      { name: "Refunds", agent_id: agent.id, envelope: ENVELOPE },
      { writer: "system:ada" }
    )
    await governor.envelopes.publish(id, {}, { writer: "system:ben" })
    await governor.agents.update(agent.id, { autonomy_tier: "L2" }, { writer: "system:ben" })
    await governor.agents.activate(agent.id, { writer: "system:ben" })
  }

  async onModuleDestroy(): Promise<void> {
    await this.#operations?.close()
    await this.#governor?.close()
  }

  /** Asks before it acts, and records what came of it. */
  async guarded({ args, ref, signals }: Intent, act: () => Promise<object>): Promise<Done> {
    const intent: EvaluationInput = { agent_id: this.#agentId, client_ref: ref, signals }
    const verdict = await this.governor.evaluate(intent)
    if (verdict.outcome !== "allow" && verdict.outcome !== "allow_with_notice")
      return { done: false, outcome: verdict.outcome, rule: verdict.matched_rule }
    const { receipts } = await this.governor.witness(this.#agentId, {
      client_ref: ref,
      kind: "tool_call",
      action: signals.tool,
      status: "intended",
      args,
      evaluation_id: verdict.id
    })
    const { decision_id, duplicate, seq } = receipts[0]!
    if (duplicate) return { done: true, repeated: true, record: seq }
    try {
      const result = await act()
      await this.governor.settle(decision_id, { status: "ok", result })
      return { done: true, repeated: false, record: seq, result }
    } catch (cause) {
      await this.governor.settle(decision_id, { status: "error", result: { message: String(cause) } })
      throw cause
    }
  }
}
