/** The requests of clients and their answers: kept outside of every host, to be compared with the store. */
import type { Breaker, BreakerCheckOut, KillStatus, Review, StandingApproval } from "@flyball/contract"
import type { QuotaReservation } from "@flyball/core"
import type { KillTarget } from "../../../packages/rules/src/index.ts"

/** One decision as its senders know it, by agent and reference. */
export interface WitnessLine {
  readonly agentId: string
  readonly clientRef: string
  /** Every content that somebody sent under this reference. */
  readonly contents: Set<string>
  /** The receipt that was acknowledged first; later ones must be the same. */
  receipt: { readonly decisionId: string; readonly seq: number; readonly hash: string; readonly content: string } | null
  /** Acknowledgements that said "not a duplicate". */
  fresh: number
}

/**
 * Something that must be in the chain once for each acknowledgement, and may be there once more for each try nobody
 * heard of again.
 */
export interface TriedLine {
  tries: number
  acknowledged: number
}

/** The settings that a change of a breaker makes in the simulation. */
export interface BreakerSettings {
  readonly mode: string
  readonly enabled: boolean
}

/** Changes of a breaker: one that sets what holds already is acknowledged, and nothing is recorded. */
export interface BreakerChangesLine {
  tries: number
  readonly acknowledged: Array<BreakerSettings>
}

/** A pack that came to its end at a client. */
export interface PackLine {
  readonly packId: string
  readonly bytes: Uint8Array
}

/** A kill status that somebody was answered. */
export interface KillStatusLine {
  readonly by: string
  /** The highest epoch that was acknowledged before the question: the answer knows of it. */
  readonly floor: number
  readonly status: KillStatus
}

/** The breakers that a host listed, between two heads of the chain. */
export interface BreakerListLine {
  readonly by: string
  readonly before: number
  readonly after: number
  readonly shown: ReadonlyArray<Breaker>
}

/** A review that somebody was named in an answer. */
export interface ReviewLine {
  readonly id: string
  readonly agentId: string
  readonly amount: number
  readonly requestedBy: string
}

/** Reviews that a host showed, between two heads of the chain and two times of the store. */
export interface ReviewsShownLine {
  readonly by: string
  readonly before: number
  readonly after: number
  readonly fromMs: number
  readonly toMs: number
  readonly shown: ReadonlyArray<Review>
}

/** Standing approvals that a host listed, likewise. */
export interface StandingListLine extends Omit<ReviewsShownLine, "shown"> {
  readonly shown: ReadonlyArray<StandingApproval>
}

/** The answer about a plan of routes: its end with its digest, and the evaluation of its dispatch. */
export interface PlanLine {
  end: string | null
  evaluation: string | null
}

/** The ledger of all clients. */
export class Ledger {
  /** Acknowledged agents, id by name. */
  readonly agents = new Map<string, string>()
  readonly witnessed = new Map<string, WitnessLine>()
  /**
   * By decision id: every outcome that somebody sent (a status, or a status with what it came to), and the seq and hash
   * that were acknowledged.
   */
  readonly settled = new Map<
    string,
    { readonly outcomes: Set<string>; receipt: { readonly seq: number; readonly hash: string } | null; fresh: number }
  >()
  /** By `seq name`: whether an erasure was acknowledged. */
  readonly erased = new Map<string, { acknowledged: boolean }>()
  /** By the number of decisions lost, which is one for each act. */
  readonly gaps = new Map<number, TriedLine>()
  /** By the key's name, which is one for each act. */
  readonly keys = new Map<string, TriedLine & { id: string | null; revoked: boolean }>()
  /** By the platform key's name, likewise. `revocations`: how many were begun. */
  readonly platformKeys = new Map<
    string,
    TriedLine & { id: string | null; key: string; revoked: boolean; revocations: number }
  >()
  /** Acknowledged pseudonyms, by subject. */
  readonly principals = new Map<string, string>()
  /** Announcements that were acknowledged, and those that were tried. */
  readonly announced = new Map<string, TriedLine>()
  readonly packs: Array<PackLine> = []
  /** By the webhook's address, which is one for each act. */
  readonly webhooks = new Map<string, TriedLine>()
  /** Webhooks that were acknowledged. */
  readonly webhookIds: Array<string> = []
  /** Deliveries that somebody wanted tried at once: for these the schedule does not hold. */
  readonly hurried = new Set<string>()
  /** By `webhook event`: how often somebody wanted it sent again. */
  readonly owedAgain = new Map<string, TriedLine>()
  /** By webhook: how often somebody wanted what was missed. */
  readonly recoveries = new Map<string, TriedLine>()
  /** By reference: the request, and its first answer. */
  readonly evaluated = new Map<
    string,
    {
      readonly agent: string
      readonly amount: number
      /** The amount in the arguments, where there are any. */
      readonly argsAmount?: number
      receipt: {
        readonly id: string
        readonly seq: number
        readonly outcome: string
        readonly meters: ReadonlyArray<unknown>
      } | null
    }
  >()
  /** Evaluations that some decision may have said the end of. */
  readonly cameTo = new Set<string>()
  /** Activations by the reason, which is one for each act. */
  readonly killActivations = new Map<string, TriedLine & { id: string | null }>()
  /** Activations that were acknowledged, released ones too. */
  readonly killHeld: Array<{ readonly id: string; readonly target: KillTarget; readonly epoch: number }> = []
  /** By activation: releases that were tried, and the epoch that was acknowledged. */
  readonly killReleases = new Map<string, TriedLine & { epoch: number | null }>()
  /** By `activation/agent/instance`: how often the instance was answered, and how often that it stopped. */
  readonly killAcks = new Map<string, { tries: number; seen: number; stopped: number }>()
  readonly killStatuses: Array<KillStatusLine> = []
  /** The highest epoch of the kill switch that anybody was answered. */
  killEpoch = 0
  /** Breakers of the governed agent, by name. */
  readonly breakers = new Map<string, TriedLine & { id: string | null }>()
  /** Changes and releases of breakers, by id. */
  readonly breakerChanges = new Map<string, BreakerChangesLine>()
  readonly breakerReleases = new Map<string, TriedLine>()
  /** Answers of checks of all breakers. */
  readonly breakerReadings: Array<BreakerCheckOut> = []
  readonly breakerLists: Array<BreakerListLine> = []
  /** Reviews of the desk, by id. */
  readonly reviews = new Map<string, ReviewLine>()
  /** By `review person`: what that person answered, and whether that approved the review. */
  readonly reviewAnswers = new Map<
    string,
    TriedLine & {
      readonly reviewId: string
      readonly by: string
      readonly resolutions: Set<string>
      hasApproved: boolean
    }
  >()
  /** By review: withdrawals of its requester. */
  readonly reviewWithdrawals = new Map<string, TriedLine>()
  /** Single reviews that clients were shown, and all of them as hosts list them in the end. */
  readonly reviewsShown: Array<ReviewsShownLine> = []
  readonly reviewsListed: Array<ReviewsShownLine> = []
  /** Proposals of standing approvals by the reason, which is one for each act. */
  readonly standings = new Map<string, TriedLine>()
  /** Proposals that were acknowledged, by id: the amounts of the box. */
  readonly boxes = new Map<
    string,
    { readonly amounts: ReadonlyArray<number>; readonly proposedBy: string; readonly isTooWide: boolean }
  >()
  /** By standing approval. */
  readonly standingGrants = new Map<string, TriedLine>()
  readonly standingRevokes = new Map<string, TriedLine>()
  readonly standingLists: Array<StandingListLine> = []
  /** Ids of fairness screens that were acknowledged. */
  readonly screens: Array<string> = []
  /** Lists of tools, by the address of their server. */
  readonly toolLists = new Map<string, TriedLine & { serverId: string }>()
  /** By finding: the resolution that was acknowledged. */
  readonly resolvedFindings = new Map<string, "approved" | "rejected">()
  /** Reservations of quotas that were acknowledged, by id. `actual`: what each is settled with, once that was tried. */
  readonly reservations = new Map<string, QuotaReservation & { actual: number | null }>()
  /** Alarms about behaviour that were acknowledged. */
  alarms = 0
  /** The workflow of the run, once one is acknowledged. */
  workflow: string | null = null
  /** Executions, by client and turn. */
  readonly starts = new Map<string, TriedLine & { id: string }>()
  /** By approval: what was sent, and what was acknowledged. */
  readonly decided = new Map<string, { readonly sent: Set<boolean>; acknowledged: boolean | null }>()
  /** Executions whose end was acknowledged to the client that cancelled them. */
  readonly cancelled = new Set<string>()
  /** Monitors, by client and turn; those whose deletion was acknowledged. */
  readonly monitors = new Map<string, TriedLine & { id: string }>()
  readonly unwatched = new Set<string>()
  /** Calls with inferences, by client and turn; `count`: inferences of a call. */
  readonly inferences = new Map<string, TriedLine & { readonly count: number }>()
  /** Plans of routes that were wanted, by client and turn; those that somebody knows, by id. */
  readonly plansWanted = new Map<string, TriedLine>()
  readonly plans = new Map<string, PlanLine>()
  /** Documents that were sent, by their text; answers about extractions, by id: null before the end. */
  readonly documents = new Map<string, TriedLine & { readonly total: string; readonly agentId: string | null }>()
  readonly extractions = new Map<string, string | null>()
  /** Fences, by client and turn. */
  readonly fences = new Map<string, TriedLine & { id: string }>()
  /** By `vehicle time`: the latitudes that somebody sent, and how often that was acknowledged. */
  readonly positions = new Map<string, { readonly latitudes: Set<number>; acknowledged: number }>()
  /** Checkpoints that clients were given. */
  readonly checkpoints: Array<{ readonly size: number; readonly rootHex: string }> = []
  /** The highest acknowledged seq. */
  highestSeq = -1
  /** Answers that should not have been possible. */
  readonly problems: Array<string> = []
  /** How often each act was answered, and how. */
  readonly answers = new Map<string, number>()

  /** Notes an answer that should not have been possible. */
  problem(sentence: string): null {
    this.problems.push(sentence)
    return null
  }

  /** Counts an answer. */
  count(what: string): void {
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1)
  }

  /** The line of a decision, made at first sight. */
  decision(agentId: string, clientRef: string): WitnessLine {
    return lineOf(this.witnessed, `${agentId} ${clientRef}`, () => ({
      agentId,
      clientRef,
      contents: new Set<string>(),
      receipt: null,
      fresh: 0
    }))
  }
}

/** The value of a key, made at first sight. */
export const lineOf = <K, V>(lines: Map<K, V>, key: K, make: () => V): V => {
  const there = lines.get(key)
  if (there !== undefined) return there
  const made = make()
  lines.set(key, made)
  return made
}
