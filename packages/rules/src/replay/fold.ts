/** Folds records, in order, into the documents they say there are. */
import { isMediator } from "../records/writers-of-kinds.ts"
import { decodeId } from "@flyball/evidence"
import { foldMappingChanged } from "../access-mapping/fold.ts"
import type { AgentDocument } from "../agents/document.ts"
import { MAX_ANCESTORS, parentProblem } from "../agents/ancestry.ts"
import { agentFolds, agentKindsWithParts, foldAgentRegistered } from "../agents/fold.ts"
import { BREAKERS } from "../breakers/document.ts"
import { foldBreaker } from "../breakers/fold.ts"
import {
  envelopeKindsWithParts,
  foldEnvelopeBegun,
  foldEnvelopeDrafted,
  foldEnvelopePublished,
  foldEnvelopeWithdrawn,
  foldVersion
} from "../envelopes/fold.ts"
import { CHANNEL_CHECKS, foldChannelChecked } from "../drills/channel.ts"
import { DRILLS } from "../drills/document.ts"
import { drillKindsWithParts, foldDrillAttested, foldDrillCompleted, foldDrillStarted } from "../drills/fold.ts"
import { expectedTier, judgeActingTier } from "../recompute/acting-tier.ts"
import { recordedResponse } from "../recompute/checks/kill.ts"
import { evaluationBody } from "../evaluations/evaluation-body.ts"
import { EnvelopeNumbers } from "../envelopes/numbers.ts"
import { References } from "../recompute/checks/references.ts"
import { foldPlatformKeyMinted, foldPlatformKeyRevoked } from "../platform-keys/fold.ts"
import { foldIngestKeyMinted, foldIngestKeyRevoked } from "../ingest-keys/fold.ts"
import {
  ackIdOf,
  foldAcknowledged,
  foldActivated,
  foldEpoch,
  foldExpected,
  foldReleased,
  foldStopped,
  foldUnconfirmed,
  killCollections,
  killKindsWithParts
} from "../kill/fold.ts"
import { KILL_ACKS, KILL_ACTIVATIONS, KILL_EPOCH } from "../kill/document.ts"
import { FINDINGS, foldFinding, foldMcpServer, MCP_SERVERS } from "../mcp/state.ts"
import { foldModel, MODELS } from "../models/fold.ts"
import { foldProvenanceAdded } from "../provenance/fold.ts"
import { foldPrincipalSeen } from "../principals/fold.ts"
import { foldResponsePolicyChanged } from "../response-policy/fold.ts"
import { REVIEWS } from "../reviews/document.ts"
import { foldReview, foldReviewOpened, reviewKindsWithParts } from "../reviews/fold.ts"
import { STANDING_APPROVALS } from "../standing-approvals/document.ts"
import {
  foldStandingGranted,
  foldStandingProposed,
  foldStandingRevoked,
  foldStandingUsed,
  standingKindsWithParts
} from "../standing-approvals/fold.ts"
import { foldWaiver, waiverKindsWithParts } from "../waivers/fold.ts"
import { foldWebhookChanged, foldWebhookCreated, foldWebhookRevoked } from "../webhooks/fold.ts"
import { areNewerRules } from "../records/rules-version.ts"
import type { Difference, ExpectedDocument, ReplayRecord } from "../records/record.ts"

/** Collections whose documents follow from records alone. Replay does not compare others, which are working state. */
export const governedCollections = [
  "access_mapping",
  "agents",
  "breakers",
  CHANNEL_CHECKS,
  "drills",
  "envelope_versions",
  "envelopes",
  FINDINGS,
  "ingest_keys",
  ...killCollections,
  MCP_SERVERS,
  "models",
  "platform_keys",
  "principals",
  "provenance",
  "response_policy",
  REVIEWS,
  STANDING_APPROVALS,
  "waivers",
  "webhooks"
] as const

/** Kinds whose parts the fold reads. */
export const kindsWithParts: ReadonlySet<string> = new Set([
  ...agentKindsWithParts,
  ...envelopeKindsWithParts,
  ...killKindsWithParts,
  ...drillKindsWithParts,
  ...reviewKindsWithParts,
  ...standingKindsWithParts,
  ...waiverKindsWithParts,
  "ingest_key.minted",
  "platform_key.minted",
  "mapping.changed",
  "principal.seen",
  "agent.provenance_added",
  "response_policy.changed",
  "webhook.created",
  "webhook.changed"
])

/** Numbers of an agent's records. */
export interface AgentCounts {
  readonly witnessed: number
  readonly settled: number
  readonly gaps: number
}

/**
 * Everything folded so far. It grows with agents, keys and principals; with decisions and evaluations only what {@link
 * References} takes.
 */
export interface ReplayState {
  readonly documents: Map<string, Map<string, ExpectedDocument>>
  readonly counts: Map<string, AgentCounts>
  /** Records that contradict what came before them. */
  readonly differences: Array<Difference>
  readonly numbers: EnvelopeNumbers
  /** Of the chain at hand: seqs restart with each chain, so that this does too. */
  references: References
}

/** The state before the first record. */
export const emptyReplay = (): ReplayState => ({
  documents: new Map(governedCollections.map((collection) => [collection, new Map()])),
  counts: new Map(),
  differences: [],
  numbers: new EnvelopeNumbers(true),
  references: new References(0)
})

/** Adds one record to the state, in place: a fold over a million records should not copy a million states. */
export const foldRecord = (state: ReplayState, record: ReplayRecord): void => {
  const number = state.numbers.take(record)
  if (number !== null) inBody(state, record, number.member, number.expected)
  switch (record.kind) {
    case "agent.registered":
      checkParent(state, record)
      return add(state, foldAgentRegistered(record), record)
    case "ingest_key.minted":
      return add(state, foldIngestKeyMinted(record), record)
    case "platform_key.minted":
      return add(state, foldPlatformKeyMinted(record), record)
    case "platform_key.revoked":
      return change(state, "platform_keys", String(record.body["key_id"]), record, foldPlatformKeyRevoked)
    case "ingest_key.revoked":
      return change(state, "ingest_keys", String(record.body["key_id"]), record, foldIngestKeyRevoked)
    case "mapping.changed": {
      const mapping = foldMappingChanged(record)
      collectionOf(state, mapping.collection).set(mapping.id, mapping)
      return
    }
    case "channel.checked": {
      const check = foldChannelChecked(record)
      collectionOf(state, check.collection).set(check.id, check)
      return
    }
    case "drill.started":
      return add(state, foldDrillStarted(record), record)
    case "drill.completed":
      change(state, DRILLS, String(record.body["drill_id"]), record, foldDrillCompleted)
      return ofAgent(state, record)
    case "drill.attested":
      change(state, DRILLS, String(record.body["drill_id"]), record, foldDrillAttested)
      return ofAgent(state, record)
    case "response_policy.changed": {
      const policy = foldResponsePolicyChanged(record)
      collectionOf(state, policy.collection).set(policy.id, policy)
      return
    }
    case "model.registered":
      return add(state, foldModel(record), record)
    case "model.updated":
      return change(state, MODELS, String(record.body["model_id"]), record, () => foldModel(record))
    case "agent.provenance_added":
      return add(state, foldProvenanceAdded(record), record)
    case "principal.seen":
      return add(state, foldPrincipalSeen(record), record)
    case "envelope.drafted":
      return collectionOf(state, "envelopes").has(String(record.body["envelope_id"]))
        ? change(state, "envelopes", String(record.body["envelope_id"]), record, foldEnvelopeDrafted)
        : add(state, foldEnvelopeBegun(record), record)
    case "envelope.published":
      add(state, foldVersion(record), record)
      return change(state, "envelopes", String(record.body["envelope_id"]), record, foldEnvelopePublished)
    case "envelope.withdrawn":
      return change(state, "envelopes", String(record.body["envelope_id"]), record, foldEnvelopeWithdrawn)
    case "standing_approval.proposed":
      return add(state, foldStandingProposed(record), record)
    case "standing_approval.granted":
      return change(state, STANDING_APPROVALS, String(record.body["standing_approval_id"]), record, foldStandingGranted)
    case "standing_approval.used":
      return change(state, STANDING_APPROVALS, String(record.body["standing_approval_id"]), record, foldStandingUsed)
    case "standing_approval.revoked":
      return change(state, STANDING_APPROVALS, String(record.body["standing_approval_id"]), record, foldStandingRevoked)
    case "waiver.requested":
      return add(state, foldWaiver(record), record)
    case "waiver.granted":
      return change(state, "waivers", String(record.body["waiver_id"]), record, () => foldWaiver(record))
    case "kill.activated":
      add(state, foldActivated(record), record)
      return nextEpoch(state, record)
    case "kill.released":
      change(state, KILL_ACTIVATIONS, String(record.body["activation_id"]), record, foldReleased)
      return nextEpoch(state, record)
    case "kill.expected":
      return change(state, KILL_ACTIVATIONS, String(record.body["activation_id"]), record, foldExpected)
    case "kill.unconfirmed":
      return change(state, KILL_ACTIVATIONS, String(record.body["activation_id"]), record, foldUnconfirmed)
    case "kill.acknowledged":
      return add(state, foldAcknowledged(record), record)
    case "kill.stopped":
      return change(state, KILL_ACKS, ackIdOf(record.body), record, foldStopped)
    case "breaker.armed":
      return add(state, foldBreaker(null, record), record)
    case "breaker.changed":
    case "breaker.tripped":
    case "breaker.released":
      return change(state, BREAKERS, String(record.body["breaker_id"]), record, foldBreaker)
    case "review.opened":
      return add(state, foldReviewOpened(record), record)
    case "review.claimed":
    case "review.resolved":
    case "review.presented":
    case "review.expired":
    case "review.cancelled":
    case "review.consumed":
      return change(state, REVIEWS, String(record.body["review_id"]), record, foldReview)
    case "mcp.manifest_seen": {
      const servers = collectionOf(state, MCP_SERVERS)
      const id = String(record.body["server_id"])
      return void servers.set(id, foldMcpServer(servers.get(id) ?? null, record))
    }
    case "mcp.pinned":
      return change(state, MCP_SERVERS, String(record.body["server_id"]), record, foldMcpServer)
    case "mcp.manifest_changed":
      return add(state, foldFinding(null, record), record)
    case "finding.resolved":
      return change(state, FINDINGS, String(record.body["finding_id"]), record, foldFinding)
    case "webhook.created":
      return add(state, foldWebhookCreated(record), record)
    case "webhook.changed":
      return change(state, "webhooks", String(record.body["webhook_id"]), record, foldWebhookChanged)
    case "webhook.revoked":
      return change(state, "webhooks", String(record.body["webhook_id"]), record, foldWebhookRevoked)
    case "decision.witnessed":
      checkStatus(state, record)
      checkCapture(state, record)
      state.references.decision(record)
      return count(state, record, "witnessed")
    case "evaluation.made": {
      checkTier(state, record)
      const id = decodeId("evl_", String(record.body["evaluation_id"]))
      if (id === null) state.references.unknown(record.seq)
      else state.references.evaluation(record.seq, String(record.body["agent_id"]), id)
      return
    }
    case "meter.voided":
      return checkReferences(state, record)
    case "decision.settled":
      checkReferences(state, record)
      return count(state, record, "settled")
    case "capture.gap":
      return count(state, record, "gaps")
  }
  if (record.kind === "agent.updated") checkUpdate(state, record)
  ofAgent(state, record)
}

/** Folds a record that names an agent into its document. */
const ofAgent = (state: ReplayState, record: ReplayRecord): void => {
  const next = agentFolds.get(record.kind)
  if (next !== undefined && record.body["agent_id"] !== undefined)
    change(state, "agents", String(record.body["agent_id"]), record, next)
}

const add = (state: ReplayState, document: ExpectedDocument, record: ReplayRecord): void => {
  const documents = collectionOf(state, document.collection)
  if (documents.has(document.id))
    contradiction(state, document.collection, document.id, `no ${record.kind} for an id that exists`, record)
  else documents.set(document.id, document)
}

const change = (
  state: ReplayState,
  collection: string,
  id: string,
  record: ReplayRecord,
  next: (document: ExpectedDocument, record: ReplayRecord) => ExpectedDocument
): void => {
  const documents = collectionOf(state, collection)
  const document = documents.get(id)
  if (document === undefined)
    contradiction(state, collection, id, `no ${record.kind} before the record that creates it`, record)
  else documents.set(id, next(document, record))
}

/** The epoch of the deployment goes up by one with each change of a target's state. */
const nextEpoch = (state: ReplayState, record: ReplayRecord): void => {
  const epochs = collectionOf(state, KILL_EPOCH.collection)
  const before = epochs.get(KILL_EPOCH.id)?.body["epoch"] ?? 0
  if (record.body["epoch"] !== Number(before) + 1) inBody(state, record, "epoch", String(Number(before) + 1))
  epochs.set(KILL_EPOCH.id, foldEpoch(record))
}

const count = (state: ReplayState, record: ReplayRecord, what: keyof AgentCounts): void => {
  const agentId = String(record.body["agent_id"])
  if (!collectionOf(state, "agents").has(agentId))
    contradiction(state, "agents", agentId, `no ${record.kind} before agent.registered`, record)
  const counts = state.counts.get(agentId) ?? { witnessed: 0, settled: 0, gaps: 0 }
  state.counts.set(agentId, { ...counts, [what]: counts[what] + 1 })
}

/** A parent was registered before, is of the same org unit, and has few enough ancestors. */
const checkParent = (state: ReplayState, record: ReplayRecord): void => {
  const { agent_id: id, org_unit_digest: digest, parent_agent_id: parentId } = record.body
  if (typeof parentId !== "string") return
  const agents = collectionOf(state, "agents")
  const agent = { id: String(id), parentId, orgUnitDigest: typeof digest === "string" ? digest : undefined }
  const problem = parentProblem(agent, (one) => agents.get(one)?.body as Partial<AgentDocument> | undefined)
  if (problem === null) return
  inBody(
    state,
    record,
    "parent_agent_id",
    problem === "too_deep"
      ? `an agent with fewer than ${MAX_ANCESTORS} ancestors`
      : "an agent of the same org unit that was registered before"
  )
}

/** A parent never changes, and an update completes no owner. */
const checkUpdate = (state: ReplayState, record: ReplayRecord): void => {
  const known = collectionOf(state, "agents").get(String(record.body["agent_id"]))?.body
  if (known === undefined) return
  const { owner_complete: complete, parent_agent_id: parentId } = record.body
  if (parentId !== undefined && known["parentAgentId"] !== parentId)
    inBody(state, record, "parent_agent_id", String(known["parentAgentId"] ?? "nothing"))
  if (complete === true && known["ownerComplete"] === false) inBody(state, record, "owner_complete", "false")
}

/** Capture expects the agent unchanged, so the status in the record is the one that the records before it make. */
const checkStatus = (state: ReplayState, record: ReplayRecord): void => {
  const expected = collectionOf(state, "agents").get(String(record.body["agent_id"]))?.body["status"]
  const found = record.body["agent_status"]
  if (expected === undefined || expected === found) return
  state.differences.push({
    collection: "records",
    id: String(record.seq),
    path: "/body/agent_status",
    expected: String(expected),
    found: String(found)
  })
}

/**
 * Only a key of a gateway may say that it captured a decision. A key that was minted in a chain before this one is not
 * known here, and not judged.
 */
const checkCapture = (state: ReplayState, record: ReplayRecord): void => {
  if (record.body["capture"] !== "mediated") return
  const writer = String(record.body["writer"])
  if (isMediator(writer)) return
  const key = collectionOf(state, "ingest_keys").get(writer)
  if (key === undefined ? !writer.startsWith("key_") : key.body["capture"] !== "mediated")
    inBody(state, record, "capture", "a claim that this writer may make")
}

/**
 * The tier whose floor an evaluation took, by the records before it. Evaluations expect agent and envelopes unchanged.
 */
const checkTier = (state: ReplayState, { body, seq }: ReplayRecord): void => {
  const agent = collectionOf(state, "agents").get(String(body["agent_id"]))
  const response = recordedResponse(evaluationBody(body))
  const found =
    agent === undefined || areNewerRules(body)
      ? null
      : judgeActingTier(agent.body as unknown as AgentDocument, evaluationBody(body), response)
  if (found !== null)
    state.differences.push({
      collection: "records",
      id: String(seq),
      path: "/body/effective_tier",
      expected: expectedTier(agent!.body as unknown as AgentDocument, evaluationBody(body), response),
      found: String(body["effective_tier"] ?? "nothing")
    })
}

/** Reports a record that ends something which cannot end. */
const checkReferences = (state: ReplayState, record: ReplayRecord): void => {
  const wrong = state.references.problem(record)
  if (wrong !== null) inBody(state, record, wrong.member, wrong.reason)
}

/** A member of a record that contradicts the records before it. */
const inBody = (state: ReplayState, { body, seq }: ReplayRecord, member: string, expected: string): void => {
  state.differences.push({
    collection: "records",
    id: String(seq),
    path: `/body/${member}`,
    expected,
    found: String(body[member])
  })
}

const collectionOf = (state: ReplayState, collection: string): Map<string, ExpectedDocument> => {
  const documents = state.documents.get(collection) ?? new Map<string, ExpectedDocument>()
  state.documents.set(collection, documents)
  return documents
}

const contradiction = (
  state: ReplayState,
  collection: string,
  id: string,
  expected: string,
  record: ReplayRecord
): void => {
  state.differences.push({ collection, id, path: "", expected, found: `${record.kind} at seq ${record.seq}` })
}
