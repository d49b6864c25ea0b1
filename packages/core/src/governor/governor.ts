/**
 * The client for hosts that do not use Effect: plain promises, one kind of error, nothing of Effect in a signature.
 *
 * Spec: design section 1, "a team embedding governance in its own Node host". The README shows it whole; a test runs
 * that example.
 */
import { AccessMapping } from "../registry/access-mapping/service.ts"
import { resolveInput } from "../registry/access-mapping/resolve-input.ts"
import type {
  AgentInfo,
  AgentInput,
  ClaimsInput,
  Input,
  KeyInfo,
  KillActivateIn,
  KillChangedInfo,
  KillStatusInfo,
  PersonInput,
  RecordFilter,
  ResolvedInfo,
  ReviewDetailInfo,
  ReviewInfo
} from "@flyball/contract"
import type { Capability } from "../capability/capability.ts"
import { Checkpointer } from "../chain/checkpointer.ts"
import { ephemeralKeys } from "../chain/keys/ephemeral-keys.ts"
import { type KeysChoice, keysLayerOf } from "../chain/keys/keys.ts"
import { Effect, Layer, ManagedRuntime } from "effect"
import { capabilityJobs, governorJobs } from "./governor-jobs.ts"
import { governorLayer, type GovernorServices } from "./governor-layer.ts"
import { openAgentClient } from "./clients/agent-client.ts"
import type { AgentClient, AgentClientOptions } from "./clients/types/agent-client-types.ts"
import { agentsClient } from "./clients/agents-client.ts"
import { ensureEnvelope } from "./clients/ensure-envelope.ts"
import type { EnvelopesClient, WaiversClient } from "./clients/types/bound-client-types.ts"
import { chainClient } from "./clients/chain-client.ts"
import { type Client, openClient, acting, writerOf } from "./clients/client.ts"
import { GovernorError } from "../foundation/governor-error.ts"
import { decodeClaims, decoded, decodePack } from "./clients/input.ts"
import type { ActOptions, CallOptions } from "./clients/call-options.ts"
import type { CheckInfo, CheckpointInfo, PackInput, RecordInfo, RotationInfo } from "./clients/types/chain-types.ts"
import { watchKill } from "./clients/kill-client.ts"
import { peopleClient } from "./clients/people-client.ts"
import type { OperationsOf } from "../capability/operation.ts"
import type * as rows from "@flyball/contract/http"
import { type ClientOf, clientOf } from "./clients/client-of.ts"
import { ResponsePolicies } from "../verdicts/response-policy/service.ts"
import { responsePolicy } from "../verdicts/response-policy/module.ts"
import { reviewsClient } from "./clients/reviews-client.ts"
import { requireStringIds } from "./clients/require-string-ids.ts"
import { telemetry } from "../outward/telemetry/module.ts"
import { webhooks } from "../outward/webhooks/module.ts"
import { ingestKeys } from "../registry/ingest-keys/module.ts"
import { platformKeys } from "../registry/platform-keys/module.ts"
import { accessMapping } from "../registry/access-mapping/module.ts"
import { standingApprovals } from "../verdicts/standing-approvals/module.ts"
import { safety } from "../verdicts/safety/module.ts"
import { drills } from "../verdicts/drills/module.ts"
import { breakers } from "../verdicts/breakers/module.ts"
import { chain } from "../outward/chain/module.ts"
import { agents } from "../registry/module.ts"
import { provenance } from "../registry/provenance/module.ts"
import { decisions } from "../verdicts/capture/module.ts"
import { envelopes } from "../verdicts/envelopes/module.ts"
import { waivers } from "../verdicts/waivers/module.ts"
import { evaluations } from "../verdicts/evaluations/module.ts"
import { reviews } from "../verdicts/reviews/module.ts"
import { kill } from "../verdicts/kill/module.ts"
import { people } from "../registry/principals/module.ts"
import { behavior } from "../screens/drift/module.ts"
import { evals } from "../screens/evals/module.ts"
import { fairness } from "../screens/fairness/module.ts"
import { mcp } from "../screens/mcp/module.ts"
import { models } from "../registry/models/module.ts"
import { isLeftOut, refuseInvalidOptions } from "./invalid-options.ts"
import { backgroundLog, toStandardError } from "./background-log.ts"
import type { LogLine } from "./log-line.ts"
import { setMount } from "./mount.ts"
import { Packs } from "../outward/packs/service.ts"
import { Replay } from "../outward/replay/service.ts"
import { layerOf, type StorageChoice } from "../storage/choice.ts"
import type { Storage } from "../storage/port.ts"
import { countedStorage } from "../storage/counted-storage.ts"
import type { MetricFamily } from "../foundation/metric-family.ts"
import { metricsNow, ownMetrics } from "../foundation/metrics.ts"
import { trustLayerOf, type TrustStoreChoice } from "../registry/identity/trust-store.ts"
import { deliveryEngine } from "../outward/webhooks/delivery-engine.ts"
import { mailJob } from "../outward/webhooks/mail-job.ts"
import { type WebhooksChoice, webhooksLayerOf } from "../outward/webhooks/webhooks-choice.ts"
import { systemHost } from "../foundation/writer.ts"
import { ChannelPeriod } from "../verdicts/drills/channel-check.ts"

/** Options of {@link openGovernor}. */
export interface GovernorOptions {
  /** Where everything is kept: `memoryStorage()`, `sqliteStorage(…)`, `postgresStorage(…)`. */
  readonly storage: StorageChoice
  /**
   * The signer: `dataFolder(…)` of `@flyball/node`. Left out, keys live as long as the process; only a store in memory
   * may leave them out.
   */
  readonly keys?: KeysChoice | undefined
  /** The chain's name, a URL without scheme; made up at the first start when left out, and fixed from then on. */
  readonly origin?: string | undefined
  /** `tenant_id` of every agent; `default` when left out, and fixed from the first start on. */
  readonly tenantId?: string | undefined
  /**
   * Whose cards count: `trustFolder(…)` of `@flyball/node`. Left out, no key is known and every signed card is
   * rejected.
   */
  readonly trustStore?: TrustStoreChoice | undefined
  /** Sender, mailer and secret box of webhooks. Left out, none can be created, and nothing is sent. */
  readonly webhooks?: WebhooksChoice | undefined
  /**
   * How often the kill switch's channel is checked. Unit: seconds, 0 to 86,400; 0 switches the check off. 3,600 when
   * left out.
   */
  readonly channelCheckS?: number | undefined
  /**
   * The writer that records name where a call names nobody: `usr_…`, `key_…` or `system:<name>`; `system:host` when
   * left out.
   */
  readonly writer?: string | undefined
  /**
   * Receives log lines of background work, such as a checkpoint that could not be signed. Default: one line each on
   * standard error. It must not throw.
   */
  readonly log?: LogLine | undefined
  /** Products to install, such as `platform` of `@flyball/platform`. Left out, the governor has its own calls alone. */
  readonly capabilities?: ReadonlyArray<Capability> | undefined
}

/**
 * The registry of models. Spec: document 1 section 4, GET /models; its fields are a gap: format 1 section 8,
 * `model.registered`.
 */
export interface ModelsClient extends ClientOf<typeof rows.models> {}

/**
 * Usage and cost of agents, and figures of reviews and incidents, in a window. Spec: document 1 section 4, GET
 * /bound/telemetry/usage; decision 0051.
 */
export interface TelemetryClient extends ClientOf<typeof rows.telemetry> {}

/**
 * Webhooks: which receivers get which events. Every change of one is a record. A governor opened without `webhooks`
 * refuses to create them with `webhooks_unavailable`. Spec: document 1 sections 4 and 6, document 2 section 6;
 * decisions 0019 and 0030.
 */
export interface WebhooksClient extends ClientOf<typeof rows.webhooks> {}

/**
 * Response policy: the response to each trigger, the agents that it applies to, and who is notified. Spec: document 1
 * section 5, item 8; decision 0046.
 */
export interface ResponsePolicyClient extends ClientOf<typeof rows.responsePolicy> {
  /** The version in force; 0 where none was ever set. */
  version(options?: CallOptions): Promise<number>
}

/** Changes of the behaviour of agents. Spec: document 1 section 4, GET /behavior/agents/{agent_id}/change. */
export interface BehaviorClient extends ClientOf<typeof rows.behavior> {}

/**
 * Results of eval suites, each compared with the run before it. Spec: document 1 section 4, GET /evals/eval-runs;
 * decision 0067.
 */
export interface EvalsClient extends ClientOf<typeof rows.evals> {}

/**
 * Tool servers, and findings about their lists. Spec: document 1 section 4, GET /fairness/mcp-screen; decision 0072.
 */
export interface McpClient extends ClientOf<typeof rows.mcp> {}

/**
 * Fairness screens: rates of positive outcomes between groups of decisions. Spec: document 1 section 4,
 * `/fairness/screens`; decision 0074.
 */
export interface FairnessClient extends ClientOf<typeof rows.fairness> {}

/** The tokens of agents that call the HTTP API of this governor. Spec: document 1 section 5; decision 0037. */
export interface IngestKeysClient extends ClientOf<typeof rows.ingestKeys> {}

/** Platform keys: the tokens of callers of the platform API. Spec: document 2 section 5; api.md "Document 2". */
export interface PlatformKeysClient extends ClientOf<typeof rows.platformKeys> {}

/**
 * The mapping of claims to roles. The library checks no roles itself: a host does, with `resolve`, before it calls.
 * Spec: document 1 section 2, "Access draft resolution", and section 5, item 7; decision 0016.
 */
export interface AccessMappingClient extends ClientOf<typeof rows.accessMapping> {
  /** Resolves these claims under the mapping in force. */
  resolve(claims: ClaimsInput, options?: CallOptions): Promise<ResolvedInfo>
}

/** Standing approvals: approvals in advance, of a box of inputs. Spec: decision 0050. */
export interface StandingApprovalsClient extends ClientOf<typeof rows.standingApprovals> {}

/** The safety view: each agent's kill state, breakers and drills. Spec: document 1 section 4, GET /bound/safety. */
export interface SafetyClient extends ClientOf<typeof rows.safety> {}

/** Drills: exercises of the kill switch. A `live` one really halts, and releases itself. Spec: decision 0048. */
export interface DrillsClient extends ClientOf<typeof rows.drills> {}

/**
 * Circuit breakers: limits on a metric of an agent that stop the agent when they are reached. Spec: document 1 section
 * 4, `/bound/breakers`; decision 0044.
 */
export interface BreakersClient extends ClientOf<typeof rows.breakers> {}

/** The chain: records, proofs, keys. Spec: document 1 section 4, `/chain`; format 1 sections 1 to 4. */
export interface ChainClient extends Omit<ClientOf<typeof rows.chain>, "records" | "record" | "checkpoint" | "keys"> {
  readonly origin: string
  /**
   * The key to check signatures with; after a rotation in this process, or a call of `keys`, the new one. Hand it to
   * auditors by another way than the packs.
   */
  readonly vkey: string
  records(filter?: RecordFilter, options?: CallOptions): Promise<ReadonlyArray<RecordInfo>>
  record(seq: number, options?: CallOptions): Promise<RecordInfo>
  /** The newest signed note; null before the first. */
  checkpoint(options?: CallOptions): Promise<string | null>
  keys(options?: CallOptions): Promise<ReadonlyArray<KeyInfo>>
  /**
   * Makes a new signing key, has both sign one checkpoint, and destroys the old one. After a failure call it again:
   * it continues where it stopped.
   */
  rotateKey(options?: CallOptions): Promise<RotationInfo>
}

/**
 * The registry of agents. Each act is one record, and returns the agent after it. An act that the agent's status does
 * not allow fails with `invalid_transition`. Spec: document 1 sections 3 and 4, `/agents`; decision 0013.
 */
export interface AgentsClient extends ClientOf<typeof rows.agents> {
  /** Finds the agent of this name, or registers it. */
  register(input: AgentInput, options?: ActOptions): Promise<{ readonly agent: AgentInfo; readonly created: boolean }>
  /** The agent of exactly this name; null when there is none. */
  find(name: string, options?: CallOptions): Promise<AgentInfo | null>
}

/**
 * Provenance of agents: the components that they are made of. Spec: document 1 section 4,
 * `/agents/{agent_id}/provenance`; its fields are a gap: format 1 section 8, `agent.provenance_added`.
 */
export interface ProvenanceClient extends ClientOf<typeof rows.provenance> {}

/** Decisions and capture gaps. Spec: format 1 section 8; decisions 0001, 0002 and 0009. */
export interface DecisionsClient extends ClientOf<typeof rows.decisions> {}

/** Evaluations: verdicts on what agents intend. Spec: document 1 section 4, `/bound/evaluations`; decision 0025. */
export interface EvaluationsClient extends ClientOf<typeof rows.evaluations> {}

/**
 * Reviews: people approve or reject actions that an envelope does not allow alone. The `writer` of an answer is
 * `usr_…`. Spec: document 1 section 5, item 8, names a review queue; decisions 0049 and 0064.
 */
export interface ReviewsClient extends Omit<ClientOf<typeof rows.reviews>, "get"> {
  get(id: string, options?: CallOptions): Promise<ReviewInfo>
  /** The review as soon as it is over, or its state after `waitMs`, or when the governor closes. */
  wait(id: string, waitMs: number, options?: CallOptions): Promise<ReviewInfo>
  /** The action as a reviewer must see it. With a `writer` who is a person, a record says that the person saw it. */
  detail(id: string, options?: ActOptions): Promise<ReviewDetailInfo>
}

/** The kill switch. Spec: document 1 sections 3 and 4, `/bound/kill`; decision 0047. */
export interface KillClient extends Omit<ClientOf<typeof rows.kill>, "activate" | "stream"> {
  /** Stops an agent, or every agent that uses a model. With `dryRun` it answers whom it would reach. */
  activate(
    input: Input<typeof KillActivateIn>,
    options?: ActOptions & { readonly dryRun?: boolean | undefined }
  ): Promise<KillChangedInfo>
  /**
   * The state of a target now, and with each change, whichever process makes it. Ends with the loop that reads it, or
   * by the signal. To stop what runs, abort a controller of your own at the first state that is `halted`.
   */
  watch(targetType: "agent" | "model", targetId: string, options?: CallOptions): AsyncIterable<KillStatusInfo>
}

/**
 * Pseudonyms of people: records name these, never a name or an address. Spec: format 1 sections 1.2 and 8,
 * `principal.seen`; decision 0016.
 */
export interface PeopleClient extends ClientOf<typeof rows.people> {
  /**
   * The `writer` of this person's acts, `usr_…`. The same person gets the same one from every process and over the
   * mounted HTTP API; a new one at first sight, or after the identity was erased.
   */
  writer(person: PersonInput, options?: CallOptions): Promise<string>
}

/** A running governor. Every promise rejects with {@link GovernorError}. */
export interface Governor extends AsyncDisposable {
  readonly agents: AgentsClient
  /**
   * The client of an agent that runs in this process: its `guard` asks, records, runs and settles. Finds or registers
   * the agent.
   */
  client(options: AgentClientOptions): Promise<AgentClient>
  /** How far agents may go alone. */
  readonly envelopes: EnvelopesClient
  /** Exceptions to one rule, for a time. */
  readonly waivers: WaiversClient
  /** Limits on what an agent does that stop it by themselves. */
  readonly breakers: BreakersClient
  /**
   * Decides whether an agent may do what it intends: recorded and durable when the promise resolves. The input counts
   * as it is at the call.
   */
  readonly evaluate: EvaluationsClient["evaluate"]
  readonly evaluation: EvaluationsClient["get"]
  /** Evaluations of an agent, newest first. A page may be shorter than its limit: an empty one is the end. */
  readonly evaluations: EvaluationsClient["list"]
  /** The changes that would have led to a less restrictive verdict. */
  readonly explain: EvaluationsClient["explain"]
  /**
   * Says that what was evaluated was not done: meters get back what they reserved for it. Once, and not after it was
   * settled.
   */
  readonly voidEvaluation: EvaluationsClient["void"]
  /** People answer what an envelope does not let an agent do alone. */
  readonly reviews: ReviewsClient
  /** The kill switch: stops an agent, or every agent that uses a model. */
  readonly kill: KillClient
  /** Exercises of the kill switch. */
  readonly drills: DrillsClient
  /** Every agent's halt state and what guards it. */
  readonly safety: SafetyClient
  /** Approvals in advance, of a box of inputs. */
  readonly standingApprovals: StandingApprovalsClient
  /** Usage of agents, and figures of reviews and incidents. */
  readonly telemetry: TelemetryClient
  /** Changes of the behaviour of agents. */
  readonly behavior: BehaviorClient
  /** Results of eval suites, each compared with the run before it. */
  readonly evals: EvalsClient
  /** Rates of positive outcomes between groups of decisions. */
  readonly fairness: FairnessClient
  /** Tool servers, and findings about their lists. */
  readonly mcp: McpClient
  /** The models that agents use. */
  readonly models: ModelsClient
  /** Provenance of agents: the components that they are made of. */
  readonly provenance: ProvenanceClient
  /** Response policy: the response to each trigger, the agents that it applies to, and who is notified. */
  readonly responsePolicy: ResponsePolicyClient
  /** Pseudonyms of people: the `writer` of what a person does. */
  readonly people: PeopleClient
  /** Which claims of a person's token grant which role where. */
  readonly accessMapping: AccessMappingClient
  /** Ingest keys: the tokens of agents that call the HTTP API. */
  readonly ingestKeys: IngestKeysClient
  readonly platformKeys: PlatformKeysClient
  /** Webhooks: which receivers get which events. */
  readonly webhooks: WebhooksClient
  /**
   * Witnesses one decision, or up to 1,000, all or none. When the promise resolves they are durable. One counts as it
   * is at the call; a list is not to be changed before the promise settles.
   */
  readonly witness: DecisionsClient["witness"]
  /** Adds the outcome of a decision, once. */
  readonly settle: DecisionsClient["settle"]
  /** Notes that decisions were made and not witnessed. */
  readonly captureGap: DecisionsClient["gap"]
  /** An agent's decisions, newest first. */
  readonly decisions: DecisionsClient["list"]
  /** One decision with its outcome and its parts. */
  readonly decision: DecisionsClient["get"]
  /** The chain: records, proofs, keys. */
  readonly chain: ChainClient
  /** Deletes the content of a part for good, and records that it was done. */
  readonly erase: ChainClient["erase"]
  /**
   * The bytes of an evidence pack. Reading it to its end is recorded as an export. Each time it is iterated it is
   * another pack, of what is recorded then; closing cuts one that is being read.
   */
  exportPack(request: PackInput, options?: ActOptions): AsyncIterable<Uint8Array>
  /** Signs for everything recorded so far. */
  checkpointNow(options?: CallOptions): Promise<CheckpointInfo>
  /** Folds all records and compares the documents with what they say. */
  check(options?: CallOptions): Promise<CheckInfo>
  /**
   * Metrics of this governor since it was opened, such as commits, verdicts and checkpoints: plain values, named and
   * labelled as `GET /metrics` of the server names them. Reading resets nothing.
   */
  metrics(options?: CallOptions): Promise<ReadonlyArray<MetricFamily>>
  /** Waits for running calls, signs a last checkpoint, and closes the store. Calling it again does nothing. */
  close(): Promise<void>
}

/**
 * Opens a governor: the store, the chain in it, the signing key and its guard. Checks that these belong together.
 *
 * - Fails: rejects with `GovernorError`, code `storage_needed`, `keys_needed`, `invalid_writer`, `invalid_option`, that
 *   of a refused start (`origin_refused`, `key_refused`, …) or of a fault.
 */
export const openGovernor = async (options: GovernorOptions): Promise<Governor> => {
  // Plain JavaScript has no compiler that would check this.
  if (typeof options?.storage !== "object" || options.storage === null) {
    throw new GovernorError(
      "storage_needed",
      "A governor keeps everything in a store. Pass `storage`: sqliteStorage({ file }) or postgresStorage({ … " +
        "}) of @flyball/storage-sql, or memoryStorage() for a store you throw away."
    )
  }
  const writer = writerOf(systemHost, options.writer)
  refuseInvalidOptions(options)
  const runtime = ManagedRuntime.make(layerFor(options))
  const client = await openClient(runtime)
  const governor = governorOver(client, writer.id)
  const { enter, isClosing } = client
  setMount(governor, { context: await runtime.context(), capabilities: options.capabilities ?? [], enter, isClosing })
  return governor
}

const layerFor = (options: GovernorOptions): Layer.Layer<GovernorServices | Storage, unknown> => {
  // The one place where the kind of store decides: a chain that outlives its only signing key could never be
  // continued, which would show only at the next start.
  if (isLeftOut(options.keys) && options.storage.backend !== "memory") {
    throw new GovernorError(
      "keys_needed",
      "A store that outlives the process needs keys that do too. Pass `keys`: dataFolder({ dir }) of " +
        "@flyball/node, or ephemeralKeys() for a store you throw away."
    )
  }
  const { channelCheckS, origin, tenantId } = options
  const capabilities = options.capabilities ?? []
  const { readOnly = false } = options.storage
  const governor = governorLayer({
    readOnly,
    ...(isLeftOut(origin) ? {} : { origin }),
    ...(isLeftOut(tenantId) ? {} : { tenantId }),
    capabilities
  })
  const jobs = Layer.merge(governorJobs, capabilityJobs(capabilities))
  const begun = readOnly ? Layer.empty : jobs
  const working =
    readOnly || isLeftOut(options.webhooks)
      ? begun.pipe(Layer.provideMerge(governor))
      : Layer.mergeAll(jobs, deliveryEngine(), mailJob).pipe(
          Layer.provideMerge(governor),
          Layer.provide(webhooksLayerOf(options.webhooks))
        )
  return working.pipe(
    Layer.provide(isLeftOut(options.trustStore) ? Layer.empty : trustLayerOf(options.trustStore)),
    Layer.provideMerge(countedStorage.pipe(Layer.provideMerge(layerOf(options.storage)))),
    Layer.provide(keysLayerOf(options.keys ?? ephemeralKeys(), origin ?? undefined)),
    Layer.provide(isLeftOut(channelCheckS) ? Layer.empty : Layer.succeed(ChannelPeriod, channelCheckS * 1_000)),
    Layer.provideMerge(backgroundLog(options.log ?? toStandardError)),
    Layer.provideMerge(ownMetrics)
  )
}

const governorOver = (client: Client, writerId: string): Governor => {
  const writer = { id: writerId }
  const { run } = client
  const act = acting(client, writer)
  const of = <const G extends rows.Group>(module: { readonly rows: G; readonly operations: OperationsOf<G> }) =>
    clientOf(module.rows, module.operations, client, writer)
  const ended = new AbortController()
  const close = (): Promise<void> => {
    ended.abort()
    return client.close()
  }
  const [queue, decided, onChain] = [of(reviews), of(decisions), of(chain)]
  const [halts, texts, verdicts] = [of(kill), of(envelopes), of(evaluations)]
  const governor: Governor = {
    client: (options) => openAgentClient(client, governor, options, ended.signal),
    agents: { ...of(agents), ...requireStringIds(agentsClient(client, writer), { register: 0 }) },
    envelopes: { ...texts, ensure: (input, options) => ensureEnvelope(texts, input, options) },
    waivers: of(waivers),
    breakers: of(breakers),
    evaluate: verdicts.evaluate,
    evaluation: verdicts.get,
    evaluations: verdicts.list,
    explain: verdicts.explain,
    voidEvaluation: verdicts.void,
    kill: {
      ...halts,
      activate: (input, options) =>
        halts.activate(input, { dry_run: options?.dryRun === true ? "true" : "false" }, options),
      watch: watchKill(client)
    },
    reviews: {
      ...queue,
      ...requireStringIds(reviewsClient(client, ended.signal)),
      detail: (id, options) => queue.get(id, {}, options)
    },
    drills: of(drills),
    safety: of(safety),
    standingApprovals: of(standingApprovals),
    telemetry: of(telemetry),
    behavior: of(behavior),
    evals: of(evals),
    fairness: of(fairness),
    mcp: of(mcp),
    models: of(models),
    provenance: of(provenance),
    responsePolicy: {
      ...of(responsePolicy),
      version: (options) =>
        run(
          ResponsePolicies.use((policies) => Effect.map(policies.get(), ({ version }) => version)),
          options
        )
    },
    people: { ...of(people), ...peopleClient(client) },
    accessMapping: {
      ...of(accessMapping),
      resolve: (claims, options) =>
        run(
          Effect.flatMap(decoded(decodeClaims, claims), (input) =>
            AccessMapping.use((access) => Effect.map(access.current, (mapping) => resolveInput(mapping, input)))
          ),
          options
        )
    },
    ingestKeys: of(ingestKeys),
    platformKeys: of(platformKeys),
    webhooks: of(webhooks),
    witness: decided.witness,
    settle: decided.settle,
    captureGap: decided.gap,
    decisions: decided.list,
    decision: decided.get,
    chain: {
      ...onChain,
      ...chainClient(client),
      origin: client.origin,
      get vkey() {
        return client.vkey
      }
    },
    erase: onChain.erase,
    exportPack: (request, options) => {
      const requested = decoded(decodePack, request)
      return client.stream(
        () =>
          act(
            (who) =>
              Effect.gen(function* () {
                const packs = yield* Packs
                const pack = yield* packs.request(yield* requested, who)
                return yield* packs.build(pack.id, who)
              }),
            options
          ),
        options
      )
    },
    checkpointNow: (options) =>
      run(
        Checkpointer.use(({ now }) =>
          Effect.map(now, ({ note, rootHex, size }) => ({ size, root_hash: `sha256:${rootHex}`, note }))
        ),
        options
      ),
    check: (options) =>
      run(
        Replay.use(({ check }) =>
          Effect.map(check, (report) => ({
            ...report,
            agents: [...report.agents].map(([agent_id, counts]) => ({ agent_id, ...counts }))
          }))
        ),
        options
      ),
    metrics: (options) => run(metricsNow, options),
    close,
    [Symbol.asyncDispose]: close
  }
  return governor
}
