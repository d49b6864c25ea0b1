/** `--checkpoint-now`: brings a checkpoint that covers every record which the store holds. */
import { Checkpointer, latestCheckpoint, Storage } from "@flyball/core"
import { Effect } from "effect"
import { setTimeout } from "node:timers/promises"
import { actOverControl } from "../../host/control/call-control.ts"
import type { Settings } from "../../settings/read.ts"
import { exitStatus } from "../command.ts"
import { withHost } from "../with-host.ts"

/** A running server signs at least every ten seconds. Unit: milliseconds. */
const LONGEST_WAIT_MS = 30_000
const BETWEEN_MS = 250

/** Records of the store, and how many of them the last checkpoint covers. */
interface Sizes {
  readonly size: number
  readonly covered: number
}

const readSizes = Effect.gen(function* () {
  const storage = yield* Storage
  return {
    size: ((yield* storage.head)?.seq ?? -1) + 1,
    covered: (yield* latestCheckpoint(storage))?.size ?? 0
  } satisfies Sizes
})

/** Records behind the last checkpoint, which no pack can hold. */
export const uncoveredRecords = Effect.map(readSizes, ({ covered, size }) => size - covered)

/**
 * Signs a checkpoint, or has the server sign that has the store open for writing. Waits for that server's next
 * checkpoint where it does not do so.
 *
 * - Fails: rejects with what kept this process from signing when no checkpoint came within 30 s.
 */
export const coverHead = async (settings: Settings): Promise<void> => {
  // The records of now: beside a busy server, some are always uncovered.
  const { covered, size } = await sizes(settings)
  if (covered >= size) return
  // Fails with a server of an older version, or whose signer fails: the wait below decides.
  await actOverControl(settings, { command: "checkpoint" }).catch(() => null)
  if ((await sizes(settings)).covered >= size) return
  const why = await sign(settings)
  if (why === null) return
  for (let waitedMs = 0; (await sizes(settings)).covered < size; waitedMs += BETWEEN_MS) {
    if (waitedMs >= LONGEST_WAIT_MS) throw why
    await setTimeout(BETWEEN_MS)
  }
}

/** Opens the store for reading only: in a folder without one, nothing is begun. */
const sizes = async (settings: Settings): Promise<Sizes> => {
  let read: Sizes = { size: 0, covered: 0 }
  await withHost({ readOnly: true, small: true, settings }, async (runtime) => {
    read = await runtime.runPromise(readSizes)
    return exitStatus.ok
  })
  return read
}

/** Null when it signed; else why not. */
const sign = (settings: Settings): Promise<unknown> =>
  withHost({ readOnly: false, small: true, settings }, async (runtime) => {
    await runtime.runPromise(Checkpointer.use(({ now }) => now))
    return exitStatus.ok
  }).then(
    () => null,
    (cause: unknown) => cause
  )
