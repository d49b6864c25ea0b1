/**
 * The agent registry: register, find, list, and what is done to an agent in its life. Spec: document 1 section 4,
 * `/agents`.
 */
import type {
  Agent,
  AgentCreate,
  AgentListQuery,
  InvalidInput,
  OrgUnitNotAllowed,
  Orphan,
  TierOverCap,
  TimelineEntry,
  TimelineQuery
} from "@flyball/contract"
import { AgentNameTaken, AgentNotFound, isId } from "@flyball/contract"
import { Clock, Context, Effect, Layer } from "effect"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { newIdIn } from "../../foundation/ids.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import { compareText, isStorable } from "../../foundation/text.ts"
import type { StorageConflict } from "../../storage/faults.ts"
import { type Document, type ReadFault, Storage } from "../../storage/port.ts"
import { Chain } from "../../chain/chain.ts"
import { Tenant } from "../../chain/tenant.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS, agentOut, orphanedAt, orphanOut, type StoredAgent, storedAgent } from "./document.ts"
import { type AgentActs, agentActs } from "./acts.ts"
import { planRegister, type RegisterPlan, type RegistrationLimits } from "./plan-register.ts"
import type { AgentDocument } from "@flyball/rules"
import { TierEvidence, tierFactsOf } from "./tier-evidence.ts"
import { readLine } from "./read-line.ts"
import { readAgent } from "./read-agent.ts"
import { timelineLister } from "./timeline.ts"

/** Agents read at a time while listing: the registry is never held whole. */
const PAGE = 500

/** Refusals of a registration. Spec: document 1 section 4, POST /agents. */
export type RegisterRefusal = InvalidInput | OrgUnitNotAllowed | TierOverCap

/** The document of a name, the agent as it is shown, and whether this call made it. */
interface Registered {
  readonly document: Document
  readonly agent: Agent
  readonly created: boolean
}

/** Options of a registration. Spec: document 1 section 4, POST /agents. */
export interface RegisterOptions {
  readonly key?: RegistrationLimits
  /**
   * How far the caller reads: a name that is taken there is answered with its agent's id. As far as it registers, where
   * nothing is given.
   */
  readonly reads?: Scope
}

/** Operations on agents. Spec: document 1 sections 3 and 4, `/agents`; decision 0013. */
export interface AgentsApi extends AgentActs {
  /** Finds the agent of this name, or registers it. An existing agent is answered unchanged, whatever the input has. */
  readonly register: (
    input: AgentCreate,
    writer: Writer,
    options?: RegisterOptions
  ) => Effect.Effect<{ readonly agent: Agent; readonly created: boolean }, RegisterRefusal | AgentNameTaken | ReadFault>
  /** Registers an agent; a name that is taken is refused. */
  readonly create: (
    input: AgentCreate,
    writer: Writer,
    options?: RegisterOptions
  ) => Effect.Effect<Agent, RegisterRefusal | AgentNameTaken | ReadFault>
  readonly get: (id: string, scope?: Scope) => Effect.Effect<Agent, AgentNotFound | ReadFault>
  /** The agent of exactly this name; null when there is none in scope. */
  readonly find: (name: string, scope?: Scope) => Effect.Effect<Agent | null, ReadFault>
  /** Oldest first. */
  readonly list: (query: AgentListQuery, scope?: Scope) => Effect.Effect<ReadonlyArray<Agent>, ReadFault>
  /** Agents without an owner, oldest first; `page` selects a range. */
  readonly orphans: (
    scope?: Scope,
    page?: Pick<AgentListQuery, "after" | "limit">
  ) => Effect.Effect<ReadonlyArray<Orphan>, ReadFault>
  /** Timeline of an agent, newest first. */
  readonly timeline: (
    id: string,
    query?: TimelineQuery,
    scope?: Scope
  ) => Effect.Effect<ReadonlyArray<TimelineEntry>, AgentNotFound | ReadFault>
}

/**
 * UTF-16 units of a name's 200 characters before NFC, where at most four code points join. A longer text names no
 * agent.
 */
const NAME_UNITS = 200 * 4 * 2

/** The agent registry. Spec: document 1 sections 3 and 4, `/agents`; decision 0013. */
export class Agents extends Context.Service<Agents, AgentsApi>()("flyball/core/Agents") {
  static readonly layer: Layer.Layer<Agents, never, Storage | Tenant | Chain> = Layer.effect(
    Agents,
    Effect.gen(function* () {
      const storage = yield* Storage
      const { tenantId } = yield* Tenant
      const evidence = yield* TierEvidence
      const { originTag } = yield* Chain
      const listTimeline = timelineLister(storage, originTag)
      const shown = Effect.fnUntraced(function* (agent: StoredAgent) {
        return { tenantId, facts: yield* tierFactsOf(evidence, agent), nowMs: yield* Clock.currentTimeMillis }
      })
      const out = (document: Document): Effect.Effect<Agent, ReadFault> => {
        const agent = storedAgent(document)
        return Effect.map(shown(agent), (context) => agentOut(agent, context))
      }
      const inScope =
        (scope: Scope) =>
        (document: Document): boolean =>
          covers(scope, storedAgent(document).body.orgUnit)

      /** Names are stored in NFC; a caller may write accents in another form. */
      const byName = (name: string) =>
        isStorable(name) && name.length <= NAME_UNITS
          ? Effect.map(storage.find(AGENTS, "name", name.normalize("NFC")), (found) => found[0] ?? null)
          : Effect.succeed(null)

      /** One attempt: answers the document that exists, or commits a new one. */
      const registerOnce = Effect.fnUntraced(function* (
        agentId: string,
        input: AgentCreate,
        writer: Writer,
        options: RegisterOptions,
        lookUp: boolean
      ): Effect.fn.Return<Registered, RegisterRefusal | StorageConflict | ReadFault> {
        const { parent_agent_id: parentId = null } = input
        const line = parentId === null ? [] : yield* readLine(storage, parentId)
        const plan = yield* Effect.fromResult(
          planRegister({ agentId, input, writer, limits: options.key ?? null, originTag, line })
        )
        const existing = lookUp ? yield* byName(input.name) : null
        return existing === null
          ? yield* made(agentId, plan)
          : { document: existing, agent: yield* out(existing), created: false }
      })

      const made = (
        agentId: string,
        { agent, change }: RegisterPlan
      ): Effect.Effect<Registered, StorageConflict | ReadFault> => {
        const document = { collection: AGENTS, id: agentId, version: 1, body: agent }
        // Before the commit: a fault after it would report an act as failed that is done.
        return Effect.flatMap(out(document), (shown) =>
          Effect.as(storage.commit(change), { document, agent: shown, created: true })
        )
      }

      /**
       * Registers, or finds who has the name. The commit checks that it is free, so the first attempt reads nothing.
       */
      const registered = (input: AgentCreate, writer: Writer, options: RegisterOptions) => {
        let lookUp = false
        return commitWithRetry(
          storage,
          Effect.withFiber((fiber) => {
            const attempt = registerOnce(newIdIn(fiber, "agt"), input, writer, options, lookUp)
            lookUp = true
            return attempt
          })
        )
      }

      const scopeOf = (options: RegisterOptions): Scope =>
        options.key === undefined ? everyUnit : { orgUnits: options.key.orgUnits }

      const nameTaken = (document: Document, scope: Scope): AgentNameTaken =>
        new AgentNameTaken({ agentId: inScope(scope)(document) ? document.id : null })

      const register: AgentsApi["register"] = Effect.fnUntraced(function* (input, writer, options = {}) {
        // An agent that starts again finds itself, also where its tier was raised above what its key could register
        // today.
        const own = yield* byName(input.name)
        if (own !== null && inScope(scopeOf(options))(own)) return { agent: yield* out(own), created: false }
        const { agent, created, document } = yield* registered(input, writer, options)
        if (!inScope(scopeOf(options))(document)) return yield* nameTaken(document, options.reads ?? scopeOf(options))
        return { agent, created }
      })

      const create: AgentsApi["create"] = Effect.fnUntraced(function* (input, writer, options = {}) {
        const { agent, created, document } = yield* registered(input, writer, options)
        return created ? agent : yield* nameTaken(document, options.reads ?? scopeOf(options))
      })

      const get: AgentsApi["get"] = Effect.fnUntraced(function* (id, scope = everyUnit) {
        const document = isId("agent", id) ? yield* storage.get(AGENTS, id) : null
        return document !== null && inScope(scope)(document)
          ? yield* out(document)
          : yield* new AgentNotFound({ agentId: id })
      })

      const find: AgentsApi["find"] = Effect.fnUntraced(function* (name, scope = everyUnit) {
        const document = yield* byName(name)
        return document !== null && inScope(scope)(document) ? yield* out(document) : null
      })

      /** The one agent with an exact name: an agent's look-up at every start must not read the whole registry. */
      const named = Effect.fnUntraced(function* (name: string, query: AgentListQuery, scope: Scope) {
        const document = yield* byName(name)
        const isIn =
          document !== null &&
          inScope(scope)(document) &&
          matches(query, storedAgent(document).body) &&
          (query.after === undefined || compareText(document.id, query.after) > 0)
        return isIn ? [yield* out(document)] : []
      })

      /**
       * Collects the results of `show` for agents in scope, up to `limit`; agents for which it returns null are left
       * out.
       */
      const collect = Effect.fnUntraced(function* <A>(
        show: (agent: StoredAgent) => Effect.Effect<A | null, ReadFault>,
        scope: Scope,
        first: string | undefined,
        limit: number
      ) {
        const found: Array<A> = []
        let after = first
        while (found.length < limit) {
          // Who asks for few reads few. Those that are left out may be any number; from the second page on they are
          // read as many at a time as it goes.
          const size = found.length === 0 && after === first ? Math.min(limit, PAGE) : PAGE
          const page = yield* storage.list(AGENTS, after === undefined ? { limit: size } : { after, limit: size })
          for (const document of page) {
            const shown = inScope(scope)(document) ? yield* show(storedAgent(document)) : null
            if (shown !== null) found.push(shown)
            if (found.length === limit) break
          }
          if (page.length < size) break
          after = page.at(-1)!.id
        }
        return found.slice(0, limit)
      })

      const list: AgentsApi["list"] = (query, scope = everyUnit) =>
        query.name !== undefined
          ? named(query.name, query, scope)
          : collect(
              (agent) =>
                matches(query, agent.body)
                  ? Effect.map(shown(agent), (context) => agentOut(agent, context))
                  : Effect.succeed(null),
              scope,
              query.after,
              query.limit ?? Number.POSITIVE_INFINITY
            )

      const orphans: AgentsApi["orphans"] = (scope = everyUnit, { after, limit } = {}) =>
        collect(
          (agent) =>
            orphanedAt(agent) === null
              ? Effect.succeed(null)
              : Effect.map(shown(agent), (context) => orphanOut(agent, context)),
          scope,
          after,
          limit ?? Number.POSITIVE_INFINITY
        )

      const timeline: AgentsApi["timeline"] = (id, query = {}, scope = everyUnit) =>
        Effect.andThen(readAgent(storage, id, scope), listTimeline(id, query))

      return Agents.of({
        register,
        create,
        get,
        find,
        list,
        orphans,
        timeline,
        ...agentActs({ storage, tenantId, evidence, originTag })
      })
    })
  )
}

const matches = (query: AgentListQuery, agent: AgentDocument): boolean =>
  (query.status === undefined || agent.status === query.status) &&
  (query.autonomy_tier === undefined || agent.autonomyTier === query.autonomy_tier) &&
  (query.q === undefined || agent.name.startsWith(query.q))
