/**
 * Agents that work in a browser as a module: what governs them is here, and the browser is their caller's. Spec:
 * document 2 section 8, "create_agent"; decision 0083.
 */
import { AgentNotFound, detailItem, type DocumentAgent, InvalidInput } from "@flyball/contract"
import { documentAgents as rows } from "@flyball/contract/http"
import {
  Agents,
  beside,
  commitAnswered,
  commitWithRetry,
  defineModule,
  Envelopes,
  type Module,
  type OperationsOf,
  oneUnit,
  unitOfDocument
} from "@flyball/core"
import { type Document, Storage } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { browserEnvelope, configurationOf, isAllowed } from "./draft.ts"

/** Collection of these agents, under the ids of the registry. */
const DOCUMENT_AGENTS = "document_agents"
/** Characters of an agent's purpose. */
const MAX_PURPOSE = 4_000

const shown = ({ body, id }: Pick<Document, "body" | "id">, status: DocumentAgent["status"]): DocumentAgent => ({
  id,
  name: String(body["name"]),
  envelope_id: String(body["envelopeId"]),
  status,
  mcp_configuration: body["configuration"] as unknown as DocumentAgent["mcp_configuration"],
  created_at: formatInstant(Number(body["createdAtMs"]))
})

/** The unit is the caller's own, and no platform key has a cap of tiers. */
const impossible = { OrgUnitNotAllowed: Effect.die, TierOverCap: Effect.die } as const

const refused = (member: string, text: string, input: unknown) =>
  new InvalidInput({ detail: [detailItem(["body", member], "value_error", text, input)] })

const operations = {
  createAgent: Effect.fnUntraced(function* ({ body, query }, { scope, writer }) {
    const orgUnit = yield* oneUnit(scope, query.org_unit)
    const { allowed_domains: domains, goals, name, start_url: startUrl } = body
    if (!isAllowed(startUrl, domains))
      return yield* refused("start_url", "Input should be an https address of an allowed domain", startUrl)
    const purpose = [`Begins at ${startUrl}`, ...goals].join("\n")
    if (purpose.length > MAX_PURPOSE)
      return yield* refused("goals", `Goals have at most ${MAX_PURPOSE} characters together`, goals)
    const by = yield* writer
    const [agents, envelopes, storage] = [yield* Agents, yield* Envelopes, yield* Storage]
    const input = { name, org_unit: orgUnit, autonomy_tier: "L1", purpose, framework: "browser" } as const
    // What a lost answer left begins again: an agent of this kind without its document is its own.
    const known = yield* agents.find(name, scope)
    const isLeft =
      known?.framework === "browser" &&
      known.purpose === purpose &&
      (yield* storage.get(DOCUMENT_AGENTS, known.id)) === null
    const agent = isLeft
      ? known
      : yield* beside(agents.create(input, by, { reads: scope }).pipe(Effect.catchTags(impossible)))
    const [begun] = yield* envelopes.list({ agent_id: agent.id, limit: 1 }, scope)
    const envelope = browserEnvelope(domains)
    const { id: envelopeId } =
      begun ?? (yield* beside(Effect.orDie(envelopes.create({ name, agent_id: agent.id, envelope }, by, scope))))
    return yield* commitWithRetry(
      storage,
      Effect.gen(function* () {
        const { ms: createdAtMs } = yield* storage.asOf
        const body = {
          orgUnit,
          name,
          envelopeId,
          configuration: configurationOf({ name }),
          createdAtMs
        }
        const put = { collection: DOCUMENT_AGENTS, id: agent.id, expectedVersion: 0, body }
        return yield* commitAnswered(storage.commit({ puts: [put] }), shown(put, "awaiting_runner"))
      })
    )
  }),
  agent: Effect.fnUntraced(function* ({ params: { agent_id: id }, query }, { scope }) {
    const unit = yield* unitOfDocument(scope, query.org_unit, { collection: DOCUMENT_AGENTS, id })
    const storage = yield* Storage
    const document = yield* storage.get(DOCUMENT_AGENTS, id)
    if (document?.body["orgUnit"] !== unit) return yield* new AgentNotFound({ agentId: id })
    const seen = yield* storage.records({ agentId: id, kinds: ["mcp.manifest_seen"], limit: 1 })
    return shown(document, seen.length === 0 ? "awaiting_runner" : "connected")
  })
} satisfies OperationsOf<typeof rows>

/** Agents that work in a browser. Spec: document 2 section 8, "documents". */
export const documentAgents: Module<"document_agents", typeof rows, typeof operations, typeof Layer.empty> =
  defineModule({ name: "document_agents", rows, operations, layer: Layer.empty })
