/** `flyball release`: ends one activation of the kill switch from the host. */
import { ActivationNotFound, ActivationReleased, type KillChanged, ReleaseNotAllowed } from "@flyball/contract"
import { isRecoveryReason, Kill, MAX_REASON } from "@flyball/core"
import { Effect } from "effect"
import { readArguments, UsageError } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { hostOperator, openForChange } from "./kill/open-for-change.ts"
import { wordsOf } from "./kill/target.ts"
import { activationLines, reachLines, statusSentence } from "./kill/words.ts"

/** Releases one activation, and prints what still holds. */
export const run = command("release", async (args) => {
  const {
    positionals: [id, more],
    values: { json = false, reason }
  } = readArguments(args, { reason: { type: "string" }, json: { type: "boolean" } }, true)
  if (id === undefined || more !== undefined)
    throw new UsageError("it takes the id of one activation, kil_ and 26 characters; flyball kill-status lists them")
  if (reason === undefined) throw new UsageError("--reason TEXT is missing; it is sealed into the record")
  if (!isRecoveryReason(reason))
    throw new UsageError(`--reason should be 1 to ${MAX_REASON} characters, one of them visible`)
  return openForChange(
    { path: "/api/v1/bound/kill/release", body: { activation_event: id, reason } },
    async (runtime) => {
      const released: KillChanged = await runtime.runPromise(
        Kill.use((kill) =>
          kill
            .release({ activation_event: id, reason }, hostOperator)
            .pipe(Effect.catch((refusal) => Effect.flatMap(inWords(kill, id, refusal), Effect.fail)))
        )
      )
      const { reach, status } = released
      const target = { type: status.target_type, id: status.target_id }
      const [words, holding] = [
        await wordsOf(runtime, target),
        await runtime.runPromise(Kill.use((kill) => kill.holding(target)))
      ]
      console.log(
        json
          ? JSON.stringify(released, null, 2)
          : [
              `Released ${id}: ${words}.`,
              ...(await reachLines(runtime, reach)),
              statusSentence(words, status),
              ...(holding.length === 0 ? [] : ["Still activated:", ...holding.flatMap(activationLines)])
            ].join("\n")
      )
      return exitStatus.ok
    }
  )
})

/** A refusal with what the operator needs to go on: who may release it, or where to find the id. */
const inWords = <E>(
  kill: Pick<typeof Kill.Service, "activation">,
  id: string,
  refusal: E
): Effect.Effect<E | Error> => {
  if (refusal instanceof ActivationNotFound)
    return Effect.succeed(
      new Error(
        `there is no activation ${JSON.stringify(id.slice(0, 40))} in this store; flyball kill-status AGENT names ` +
          "what holds"
      )
    )
  if (refusal instanceof ActivationReleased)
    return Effect.succeed(new Error(`${refusal.message} flyball kill-status AGENT names what holds`))
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
