/** Halts and releases of the operator at the host, in a command's own process or in the running server's. */
import { ActivationNotFound, ActivationReleased, type KillChanged, ReleaseNotAllowed } from "@flyball/contract"
import { Kill, recordExpected } from "@flyball/core"
import type { KillResponse } from "@flyball/rules"
import { Effect } from "effect"
import type { HostRuntime } from "../../host/open-host.ts"
import { type FoundTarget, wordsOf } from "./target.ts"
import { activationLines, effectOf, reachLines, statusSentence } from "./words.ts"

/** The writer of what is done at the host. It is nobody's pseudonym. */
export const hostOperator = { id: "system:operator" }

/** Activates the kill switch, or with `dryRun` finds out whom that would reach. */
export const haltNow = async (
  runtime: HostRuntime,
  found: FoundTarget,
  {
    dryRun,
    json,
    reason,
    response
  }: {
    readonly dryRun: boolean
    readonly json: boolean
    readonly reason: string | null
    readonly response: KillResponse
  }
): Promise<string> => {
  const changed = await runtime.runPromise(
    Kill.use((kill) =>
      kill.activateTarget(
        {
          target: found.target,
          response,
          reason,
          drill: null,
          breakerId: null,
          actor: hostOperator.id,
          requestedBy: null
        },
        { dryRun }
      )
    )
  )
  // The halt is in force. Where no server runs nobody else reads this now; a job of the next one would.
  if (!dryRun) await runtime.runPromise(Effect.ignore(recordExpected))
  if (json) return JSON.stringify(changed, null, 2)
  const { activation_event: id, reach, status } = changed
  return [
    id === null
      ? `Dry run, nothing was recorded: ${response} of ${found.words}. ${effectOf(response)}.`
      : `Activated ${id}: ${response} of ${found.words}.`,
    ...(await reachLines(runtime, reach)),
    `${id === null ? "Now: " : ""}${statusSentence(found.words, status)}`,
    ...(id === null ? [] : [`To end it: flyball release ${id} --reason TEXT`])
  ].join("\n")
}

/** Ends an activation; answers what to print. Rejects with a sentence. */
export const releaseNow = async (
  runtime: HostRuntime,
  { id, json, reason }: { readonly id: string; readonly json: boolean; readonly reason: string }
): Promise<string> => {
  const released: KillChanged = await runtime.runPromise(
    Kill.use((kill) =>
      kill
        .release({ activation_event: id, reason }, hostOperator)
        .pipe(Effect.catch((refusal) => Effect.flatMap(inWords(kill, id, refusal), Effect.fail)))
    )
  )
  if (json) return JSON.stringify(released, null, 2)
  const { reach, status } = released
  const target = { type: status.target_type, id: status.target_id }
  const [words, holding] = [
    await wordsOf(runtime, target),
    await runtime.runPromise(Kill.use((kill) => kill.holding(target)))
  ]
  return [
    `Released ${id}: ${words}.`,
    ...(await reachLines(runtime, reach)),
    statusSentence(words, status),
    ...(holding.length === 0 ? [] : ["Still activated:", ...holding.flatMap(activationLines)])
  ].join("\n")
}

/** A refusal with what the operator needs to continue: who may release it, or where to find the id. */
const inWords = <E>(
  kill: Pick<typeof Kill.Service, "activation">,
  id: string,
  refusal: E
): Effect.Effect<E | Error> => {
  if (refusal instanceof ActivationNotFound)
    return Effect.succeed(
      new Error(
        `there is no activation ${JSON.stringify(id.slice(0, 40))} in this store; flyball kill-status AGENT lists ` +
          `the active ones`
      )
    )
  if (refusal instanceof ActivationReleased)
    return Effect.succeed(new Error(`${refusal.message} flyball kill-status AGENT lists the active ones`))
  if (!(refusal instanceof ReleaseNotAllowed)) return Effect.succeed(refusal)
  return kill.activation(id).pipe(
    Effect.map(
      ({ actor }) =>
        new Error(
          `${refusal.message} It was activated by ${actor}, and this host writes as ${hostOperator.id}. Any person ` +
            "with the role operator, governor or admin releases it: POST /api/v1/bound/kill/release"
        )
    ),
    Effect.catch(() => Effect.succeed(refusal))
  )
}
