/** The event of an agent whose attested drill became too old: from then on it acts at a lower tier. */
import { DRILL_WRITER, isDrillOverdue } from "@flyball/rules"
import { Effect, Stream } from "effect"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import { TierEvidence } from "../../registry/agents/tier-evidence.ts"
import { tierLowered } from "../../registry/agents/tier-lowered.ts"
import { documentPages } from "../../storage/document-pages.ts"
import { type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"

/** Working state: about which attestation of an agent the event was sent, so that it is sent once. */
const DRILL_LAPSES = "drill_lapses"

/** The writer that the event names: nobody did anything. */
const WRITER = { id: DRILL_WRITER }

/**
 * Sends `agent.tier_lowered` for each active agent that acts at a lower tier since its drill became too old, once for
 * each attestation; answers for how many. Reads every agent. No record is written: the attestation says until when it
 * counts.
 */
export const reportLapses: Effect.Effect<number, ReadFault, Storage> = Effect.gen(function* () {
  const storage = yield* Storage
  const evidence = yield* TierEvidence
  const { ms } = yield* storage.asOf
  let reported = 0
  yield* Stream.runForEach(
    documentPages(storage, AGENTS),
    Effect.fnUntraced(function* (page) {
      for (const agent of page.map(storedAgent)) {
        if (agent.body.drillAttestedAtMs === undefined || !isDrillOverdue(agent.body, ms)) continue
        const hasEnvelope = yield* evidence.publishedEnvelope(agent.id, agent.body.orgUnit)
        const [lowered] = tierLowered(
          agent,
          { agent: agent.body, facts: { hasEnvelope, hasDrill: true } },
          { agent: agent.body, facts: { hasEnvelope, hasDrill: false } },
          WRITER
        )
        if (lowered !== undefined && (yield* send(storage, agent, lowered))) reported++
      }
    })
  )
  return reported
})

const send = Effect.fnUntraced(function* (
  storage: StorageApi,
  { body, id, version }: StoredAgent,
  lowered: ReturnType<typeof tierLowered>[number]
): Effect.fn.Return<boolean, ReadFault> {
  const sent = yield* storage.get(DRILL_LAPSES, id)
  if (sent?.body["attestedAtMs"] === body.drillAttestedAtMs) return false
  return yield* storage
    .commit({
      expects: [{ collection: AGENTS, id, version }],
      puts: [
        {
          collection: DRILL_LAPSES,
          id,
          expectedVersion: sent?.version ?? 0,
          body: { attestedAtMs: body.drillAttestedAtMs! }
        }
      ],
      events: [lowered]
    })
    .pipe(
      Effect.as(true),
      // The agent changed, or another process was faster: the next poll decides again.
      Effect.catchTag("StorageConflict", () => Effect.succeed(false))
    )
})
