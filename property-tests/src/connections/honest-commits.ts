/** Holds "nothing was written" against the database, past everything that stands between. */
import type { StorageApi } from "@flyball/core/storage"
import type { OpenDatabase } from "@flyball/testkit/postgres"
import { Effect, Semaphore } from "effect"

/**
 * Everything that a commit can change, in a few numbers: length of the chain, documents with their versions, events,
 * once keys, erased parts.
 */
const printOf = (schema: string): string => `
  SELECT (SELECT seq FROM ${schema}.head)::text || '/' ||
  (SELECT count(*) || '/' || coalesce(sum(version), 0) FROM ${schema}.documents) || '/' ||
  (SELECT count(*) FROM ${schema}.events) || '/' || (SELECT count(*) FROM ${schema}.once) || '/' ||
  (SELECT count(*) FROM ${schema}.parts WHERE erased_by IS NOT NULL) AS print`

/**
 * Wraps a storage so that it commits one at a time. Checks each commit that says `wrote: "no"` at once, and again
 * before the next one: nothing may land late either.
 */
export const honestCommits = (
  storage: StorageApi,
  { ask }: OpenDatabase,
  schema: string,
  problems: Array<string>
): StorageApi => {
  const print = printOf(schema)
  const alone = Semaphore.makeUnsafe(1)
  const inspect = Effect.promise(async () => String((await ask(print))[0]!["print"]))
  /**
   * Waits for the transaction that holds the head: a commit whose answer was lost may still be under way, and is not
   * the work of the next one.
   */
  const others = Effect.promise(() => ask(`SELECT seq FROM ${schema}.head FOR UPDATE`))
  let unchanged: string | null = null
  return {
    ...storage,
    commit: (change) =>
      alone.withPermit(
        Effect.gen(function* () {
          if (unchanged === null) yield* others
          const before = yield* inspect
          if (unchanged !== null && unchanged !== before)
            problems.push(`a commit that wrote nothing made ${before} of ${unchanged} afterwards`)
          const exit = yield* Effect.exit(storage.commit(change))
          const fault =
            exit._tag === "Failure" ? exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error : undefined
          const honest =
            fault?._tag === "StorageConflict" || (fault?._tag === "StorageUnavailable" && fault.wrote === "no")
          unchanged = honest ? before : null
          const after = honest ? yield* inspect : before
          if (after !== before)
            problems.push(`a commit said that nothing was written, and made ${after} of ${before}: ${fault?.message}`)
          return yield* exit
        })
      )
  }
}
