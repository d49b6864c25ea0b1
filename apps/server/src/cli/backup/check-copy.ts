/** Opens a copy of the store as a start would, with the guard that goes into the backup, and recomputes its end. */
import {
  Chain,
  type Checkpoint,
  Guard,
  keysLayerOf,
  latestCheckpoint,
  layerOf,
  type SignedState,
  Storage
} from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect, Layer } from "effect"
import { guardCopies } from "../../host/guard.ts"
import type { Settings } from "../../settings/read.ts"
import type { Manifest } from "./manifest.ts"

/** Facts about a copied store, and the guard that fits it. */
export interface CopyFacts {
  readonly manifest: Pick<Manifest, "origin" | "vkey" | "head" | "tree" | "checkpoint" | "guard">
  readonly guard: SignedState | null
}

/**
 * Records at the end of the chain that are hashed and linked again. Everything before them is bound by the roots that
 * are compared;
 * `flyball check` on a restored copy recomputes all.
 */
const RECOMPUTED = 1_000

/**
 * Finds the guard that fits the copy, and what the copy holds.
 *
 * That guard is the newer of `before`, read before the copy was made, and the copy's last checkpoint: both were signed,
 * and the copy holds every record that
 * they cover. `now`, read after it, only says whether the guard is the one that signed.
 *
 * - Fails: with the sentence that a start would give, or with what was found.
 */
export const checkCopy = (
  settings: Settings,
  file: string,
  before: SignedState | null,
  now: SignedState | null
): Promise<CopyFacts> => {
  const checked = Effect.gen(function* () {
    const newest = yield* latestCheckpoint(yield* Storage)
    const guard = guardFor(newest, before, now, guardCopies(settings).place)
    const manifest = yield* Effect.provide(
      inspect(newest, guard),
      Chain.layer({ readOnly: true }).pipe(Layer.provide(keysWith(settings, guard)))
    )
    return { manifest, guard }
  })
  return Effect.runPromise(checked.pipe(Effect.provide(layerOf(sqliteStorage({ file, readOnly: true })))))
}

const guardFor = (
  newest: Checkpoint | null,
  before: SignedState | null,
  now: SignedState | null,
  guardPlace: string
): SignedState | null => {
  if (newest === null || newest.size <= (before?.size ?? 0)) return before
  if (now === null || now.size < newest.size) {
    throw new Error(
      `the store holds a checkpoint of ${newest.size} records, but the guard in ${guardPlace} knows of ` +
        `${now?.size ?? 0}. Use the data folder and the guard that made the checkpoint (FLYBALL_DATA_DIR, ` +
        "FLYBALL_GUARD_URL), or bring the newest copy of the guard back"
    )
  }
  return { origin: now.origin, size: newest.size, rootHex: newest.rootHex }
}

/** The keys of the data folder, with a guard that stands still. */
const keysWith = ({ dataDir }: Settings, guard: SignedState | null) =>
  Layer.merge(
    keysLayerOf(dataFolder({ dir: dataDir })),
    Layer.succeed(Guard, Guard.of({ read: Effect.succeed(guard), advance: () => Effect.succeed(false) }))
  )

/** Opening the chain has held key, genesis and guard against the store already. */
const inspect = Effect.fnUntraced(function* (newest: Checkpoint | null, guard: SignedState | null) {
  const chain = yield* Chain
  const head = yield* chain.head
  const { findings, ok } = yield* chain.verify(Math.max(0, head.seq + 1 - RECOMPUTED))
  if (!ok) {
    const [first] = findings
    const said =
      first === undefined
        ? ""
        : `: ${first.code}${first.seq === null ? "" : ` at record ${first.seq}`}, expected ${first.expected}, ` +
          `found ${first.found}`
    return yield* Effect.die(
      new Error(`the copy is not valid${said}. Run flyball check: the store is damaged, or the disk of the copy is`)
    )
  }
  return {
    origin: chain.origin,
    vkey: chain.vkey,
    head: { seq: head.seq, record_hash: head.record_hash },
    tree: { size: head.tree_size, root_hash: head.root_hash },
    checkpoint: newest === null ? null : { size: newest.size, root_hash: `sha256:${newest.rootHex}` },
    guard: guard === null ? null : { size: guard.size, root_hash: `sha256:${guard.rootHex}` }
  }
})
