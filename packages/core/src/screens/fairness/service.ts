/**
 * Fairness screens: rates of positive outcomes between groups of decisions. Spec: document 1 section 4; decision 0074.
 */
import {
  type AgentNotFound,
  DEFAULT_PAGE,
  detailItem,
  evaluationOutcomes,
  decisionStatuses,
  type FairnessScreen,
  type FairnessScreenIn,
  type FairnessScreensQuery,
  InvalidInput,
  OrgUnitNotAllowed
} from "@flyball/contract"
import { type FairnessScreenedBody, formatInstant, readRecord } from "@flyball/evidence"
import {
  fisherOf,
  type LabelValue,
  orgUnitDigest,
  partMembers,
  readScreenPart,
  Screening,
  type ScreenQuestion,
  zOfGroups
} from "@flyball/rules"
import { clopperPearson, decimalOf, type Share, shareDifference, shareRatio } from "@flyball/statistics"
import { Context, Effect, Layer, Result } from "effect"
import { Chain } from "../../chain/chain.ts"
import { newId, recordHash } from "../../foundation/ids.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS } from "../../registry/agents/document.ts"
import { agentInScope, readAgent } from "../../registry/agents/read-agent.ts"
import { firstSeqFrom } from "../../registry/agents/timeline.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { type ReadFault, Storage, type StorageApi, type StoredRecord } from "../../storage/port.ts"
import { planScreen, type ScreenWindow } from "./plan-screen.ts"
import { decisionsWithin, screenEach, type WindowBounds } from "./read-decisions.ts"

/** Operations on fairness screens. Agents outside `scope` are answered as not found. Spec: decision 0074. */
export interface FairnessScreensApi {
  /** Screens the decisions of a window, and records the counts and the verdict. */
  readonly screen: (
    input: FairnessScreenIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<FairnessScreen, AgentNotFound | InvalidInput | OrgUnitNotAllowed | ReadFault>
  /** Newest first. */
  readonly list: (
    query: FairnessScreensQuery,
    scope?: Scope
  ) => Effect.Effect<ReadonlyArray<FairnessScreen>, AgentNotFound | ReadFault>
}

/** Most agents of a screen of an org unit. */
const MAX_AGENTS = 64
/** Screens that a search reads at a time, and at most. */
const PAGE = 200
const MOST_READ = 20_000

/** Service of fairness screens. Spec: document 1 section 4, `/fairness/screens`; decision 0074. */
export class FairnessScreens extends Context.Service<FairnessScreens, FairnessScreensApi>()(
  "flyball/core/FairnessScreens"
) {
  static readonly layer: Layer.Layer<FairnessScreens, never, Storage | Chain> = Layer.effect(
    FairnessScreens,
    Effect.gen(function* () {
      const storage = yield* Storage
      const { originTag } = yield* Chain
      return FairnessScreens.of({
        screen: Effect.fnUntraced(function* (input, writer, scope = everyUnit) {
          const question = yield* Effect.fromResult(readQuestion(input))
          for (;;) {
            const asOfSeq = (yield* storage.asOf).seq
            const agentIds = yield* agentsOf(storage, input, scope)
            const bounds = { agentIds, ...(yield* boundsOf(storage, input, asOfSeq)) }
            const seqs = yield* decisionsWithin(storage, bounds)
            const screening = new Screening(question)
            const reading = { originTag, action: input.action ?? null, asOfSeq, source: question.source }
            if (!(yield* screenEach(storage, seqs, screening, reading))) continue
            const { screened } = screening
            if (screened === null)
              return yield* refused(["body", "group"], "The decisions have more than 20 values there", input.group)
            const window: ScreenWindow = {
              agentIds,
              orgUnitDigest: input.org_unit == null ? null : orgUnitDigest(originTag, input.org_unit),
              action: reading.action,
              fromSeq: bounds.from ?? seqs.at(-1) ?? 0,
              toSeq: bounds.to,
              asOfSeq
            }
            const change = planScreen(yield* newId("fsc"), question, window, screened, writer)
            const { records } = yield* commitWithRetry(storage, storage.commit(change))
            return yield* Effect.flatMap(storage.record(records[0]!.seq), (stored) => screenOut(storage, stored!))
          }
        }),
        list: Effect.fnUntraced(function* (query, scope = everyUnit) {
          const { agent_id: agentId, before, limit = DEFAULT_PAGE } = query
          if (agentId !== undefined) yield* readAgent(storage, agentId, scope)
          const isInScope = agentInScope(storage, scope)
          const found: Array<FairnessScreen> = []
          let to = before === undefined ? undefined : before - 1
          for (let read = 0; found.length < limit && read < MOST_READ && to !== -1; read += PAGE) {
            const page = yield* storage.records({
              kinds: ["fairness.screened"],
              order: "desc",
              limit: PAGE,
              ...(agentId === undefined ? {} : { agentId }),
              ...(to === undefined ? {} : { to })
            })
            for (const record of page) {
              if (found.length === limit) break
              const { agent_id: one, agent_ids: several } = yield* bodyOf(record)
              const isCovered = yield* Effect.forEach(several ?? [one!], isInScope)
              if (isCovered.every(Boolean)) found.push(yield* screenOut(storage, record))
            }
            if (page.length < PAGE) break
            to = page.at(-1)!.seq - 1
          }
          return found
        })
      })
    })
  )
}

const refused = (loc: ReadonlyArray<string>, msg: string, input?: unknown): InvalidInput =>
  new InvalidInput({ detail: [detailItem(loc, "value_error", msg, input)] })

/** Words that an outcome can be, where it is no label. */
const words = { evaluation: evaluationOutcomes, status: decisionStatuses.filter((status) => status !== "intended") }

/** The question of an input, or all that is wrong with it. */
const readQuestion = ({ agent_id, group, org_unit, outcome, ...window }: FairnessScreenIn) => {
  const { path = null, positive, source } = outcome
  const detail: Array<ReturnType<typeof detailItem>> = []
  const say = (loc: ReadonlyArray<string>, msg: string, input: unknown) =>
    detail.push(detailItem(loc, "value_error", msg, input ?? null))
  if ((agent_id == null) === (org_unit == null))
    say(["body", "agent_id"], "Expected exactly one of agent_id and org_unit", agent_id)
  if ((source === "labels") !== (path !== null))
    say(["body", "outcome", "path"], "Expected a path with source labels, and none with another", path)
  const known: ReadonlyArray<unknown> | null = source === "labels" ? null : words[source]
  for (const [at, one] of positive.entries())
    if (known !== null && !known.includes(one))
      say(["body", "outcome", "positive", String(at)], `Expected one of ${known.join(", ")}`, one)
  if (window.from_seq != null && window.since != null)
    say(["body", "since"], "Expected at most one of from_seq and since", window.since)
  if (window.to_seq != null && window.until != null)
    say(["body", "until"], "Expected at most one of to_seq and until", window.until)
  if (org_unit != null && window.from_seq == null && window.since == null)
    say(["body", "from_seq"], "A screen of an org unit states from_seq or since", null)
  return detail.length > 0
    ? Result.fail(new InvalidInput({ detail }))
    : Result.succeed<ScreenQuestion>({ group, source, path, positive })
}

/** The agents of a screen, by id. */
const agentsOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  { agent_id: agentId, org_unit: orgUnit }: FairnessScreenIn,
  scope: Scope
): Effect.fn.Return<ReadonlyArray<string>, AgentNotFound | InvalidInput | OrgUnitNotAllowed | ReadFault> {
  if (agentId != null) return [(yield* readAgent(storage, agentId, scope)).id]
  if (!covers(scope, orgUnit!)) return yield* new OrgUnitNotAllowed({})
  const found = yield* storage.find(AGENTS, "org_unit", orgUnit!)
  return found.length >= 1 && found.length <= MAX_AGENTS
    ? found.map(({ id }) => id)
    : yield* refused(["body", "org_unit"], `Expected an org unit of 1 to ${MAX_AGENTS} agents`, orgUnit)
})

/** The bounds of a window as seqs, both included. */
const boundsOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  { from_seq: fromSeq, since, to_seq: toSeq, until }: FairnessScreenIn,
  asOfSeq: number
): Effect.fn.Return<Pick<WindowBounds, "from" | "to">, ReadFault> {
  const from = since == null ? (fromSeq ?? null) : yield* firstSeqFrom(storage, Date.parse(since))
  const to = until == null ? (toSeq ?? asOfSeq) : (yield* firstSeqFrom(storage, Date.parse(until) + 1)) - 1
  return { from, to: Math.max(0, Math.min(to, asOfSeq)) }
})

const bodyOf = Effect.fnUntraced(function* (record: StoredRecord) {
  const read = readRecord(record.bytes)
  if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${record.seq} cannot be read (${read.code})` })
  return read.record.body as unknown as FairnessScreenedBody
})

const screenOut = Effect.fnUntraced(function* (
  storage: StorageApi,
  record: StoredRecord
): Effect.fn.Return<FairnessScreen, ReadFault> {
  const body = yield* bodyOf(record)
  const [part] = yield* storage.parts([record.seq])
  const read = part === undefined || part.bytes === null ? null : partMembers({ state: "present", bytes: part.bytes })
  const said = read?.state === "known" ? readScreenPart(read.members) : null
  const ungrouped = { passed: body.ungrouped_positive, trials: body.ungrouped }
  return {
    id: body.screen_id,
    agent_id: body.agent_id ?? null,
    agent_ids: body.agent_ids ?? null,
    group: said?.question.group ?? null,
    outcome: {
      source: body.source,
      path: said?.question.path ?? null,
      positive: said?.question.positive ?? null
    },
    action: body.action ?? null,
    from_seq: body.from_seq,
    to_seq: body.to_seq,
    as_of_seq: body.as_of_seq,
    decisions: body.decisions,
    erased: body.erased,
    without_outcome: body.without_outcome,
    ungrouped: {
      n: ungrouped.trials,
      positive: ungrouped.passed,
      rate: ungrouped.trials === 0 ? null : rateOf(ungrouped)
    },
    groups: groupsOut(body, said?.values ?? null),
    verdict: body.verdict ?? null,
    undefined_reason: body.undefined_reason ?? null,
    screened_by: body.writer,
    created_at: formatInstant(record.atMs),
    seq: record.seq,
    record_hash: recordHash(record.hash)
  }
})

const rateOf = (share: Share): FairnessScreen["groups"][number]["rate"] => {
  const { high, low } = clopperPearson(share.passed, share.trials)
  return { value: share.passed / share.trials, ci95: [low, high], positive: share.passed, n: share.trials }
}

/** Below so many decisions of one of two groups, Fisher's test is stated. */
const SMALL = 30

const groupsOut = (
  { base, groups }: FairnessScreenedBody,
  values: ReadonlyArray<LabelValue> | null
): FairnessScreen["groups"] => {
  const shares = groups.map(({ n, positive }): Share => ({ passed: positive, trials: n }))
  const highest = base === undefined ? null : shares[base]!
  return shares.map((share, at) => {
    const { below_four_fifths: isBelow, verdict } = groups[at]!
    return {
      value: values?.[at] ?? null,
      rate: rateOf(share),
      is_base: at === base,
      against_base:
        highest === null || isBelow === undefined || verdict === undefined
          ? null
          : { ...compared(share, highest, zOfGroups(groups.length)), below_four_fifths: isBelow, verdict }
    }
  })
}

const compared = (share: Share, highest: Share, z: number) => {
  const [rate, top] = [share.passed / share.trials, highest.passed / highest.trials]
  const [ratio, difference] = [shareRatio(share, highest, z)!, shareDifference(share, highest, z)]
  return {
    ratio: rate / top,
    ratio_ci95: [ratio.low, ratio.high],
    difference: rate - top,
    difference_ci95: [difference.low, difference.high],
    fisher_p: Math.min(share.trials, highest.trials) < SMALL ? decimalOf(fisherOf(share, highest)) : null
  }
}
