/** Why a governor refuses to start. Each sentence says what was expected, what was seen and what to do. */
import { Schema } from "effect"
import type { StorageCorrupt, StorageUnavailable } from "../../storage/faults.ts"
import type { KeyRetired, RotationUnfinished } from "./rotation-refusals.ts"

/** The requested origin is not a valid one. Spec: chain-format section 1. */
export class OriginInvalid extends Schema.TaggedError<OriginInvalid>()("OriginInvalid", { origin: Schema.String }) {
  override get message(): string {
    return (
      `The origin ${JSON.stringify(this.origin.slice(0, 80))} cannot be used: 1 to 255 printable ASCII ` +
      `characters without a space or "+" are expected, ` +
      `such as flyball.example/acme/prod. Choose another.`
    )
  }
}

/** The chain in the store has another origin than the requested one. Spec: format 1 section 1.3. */
export class OriginRefused extends Schema.TaggedError<OriginRefused>()("OriginRefused", {
  expected: Schema.String,
  found: Schema.String,
  /** Where `expected` comes from: the setting, or the keys. */
  from: Schema.Literals(["option", "keys"])
}) {
  override get message(): string {
    return this.from === "option"
      ? `Expected the origin ${this.expected}, found ${this.found}. An origin never changes: leave ` +
          `the setting out, or use the store and the keys of ${this.expected}.`
      : `The keys belong to ${this.expected}, but the store holds the chain of ${this.found}. Use the data ` +
          "folder that was made with this store, or an empty store."
  }
}

/** The signing key is not one that the chain's genesis names. */
export class KeyRefused extends Schema.TaggedError<KeyRefused>()("KeyRefused", {
  origin: Schema.String,
  expected: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return (
      `The chain of ${this.origin} names the key ${this.expected}, but the signing key here is ${this.found}. ` +
      `Use the data folder that was made with this store; keys that live in memory cannot reopen a chain.`
    )
  }
}

/** The store holds fewer records than were signed for: it was put back to an older copy, or it is another store. */
export class StoreBehindGuard extends Schema.TaggedError<StoreBehindGuard>()("StoreBehindGuard", {
  origin: Schema.String,
  signed: Schema.Int,
  stored: Schema.Int
}) {
  override get message(): string {
    return (
      `A checkpoint of ${this.signed} records was signed for ${this.origin}, but the store holds ` +
      `${this.stored}. The store is older than its guard, or another one. ` +
      "Bring back the newest copy of the store; further signatures would contradict those that others have. Only " +
      "when there is none: a recovery (flyball recover) continues under another name."
    )
  }
}

/** The store holds other records than those that were signed for. */
export class GuardDisagrees extends Schema.TaggedError<GuardDisagrees>()("GuardDisagrees", {
  origin: Schema.String,
  size: Schema.Int,
  signed: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return (
      `At size ${this.size} the root ${this.signed} was signed for ${this.origin}, but the store computes ` +
      `${this.found}. ` +
      "Stored records were changed after they were signed, or this is another store. Do not write to it; run a " +
      "check, and restore a copy that agrees. " +
      `Only when there is none: a recovery (flyball recover) continues under another name.`
    )
  }
}

/**
 * The store holds a signed checkpoint that the guard does not know: guard files were lost, or the folder of another
 * process is used.
 */
export class GuardBehindStore extends Schema.TaggedError<GuardBehindStore>()("GuardBehindStore", {
  origin: Schema.String,
  signed: Schema.Int,
  guarded: Schema.Int
}) {
  override get message(): string {
    return (
      `The store holds a checkpoint of ${this.signed} records signed for ${this.origin}, but the guard here ` +
      `knows of ${this.guarded}. ` +
      "All processes that sign for one origin share one guard: use the data folder that made the checkpoint, " +
      "or bring its newest copy back." +
      (this.guarded === 0
        ? " Only when the guard is lost for good: a recovery (flyball recover) continues under another name."
        : "")
    )
  }
}

/** The guard came back from a copy, and more may have been signed than it knows of. */
export class GuardInDoubt extends Schema.TaggedError<GuardInDoubt>()("GuardInDoubt", {
  origin: Schema.String,
  guarded: Schema.Int
}) {
  override get message(): string {
    return (
      `The guard here is a backup's: it knows of ${this.guarded} signed records of ${this.origin}, and of ` +
      "nothing that was signed after that backup. " +
      "Bring back its newest copy. When there is none: if nothing was signed after the backup, run flyball " +
      "restore --nothing-signed-since, and start again. Otherwise, or if it is not known, further signatures " +
      "could contradict those that others have: flyball recover --accept-rollback --reason TEXT continues under " +
      "another name."
    )
  }
}

/** The store is empty, and the key was not made here: it may have signed for a chain already. */
export class KeyFromElsewhere extends Schema.TaggedError<KeyFromElsewhere>()("KeyFromElsewhere", {
  origin: Schema.String
}) {
  override get message(): string {
    return (
      `The store holds no chain, and the signing key of ${this.origin} was not made in this folder: it may ` +
      "have signed for a chain that is not here, and no guard is here that would know. A new chain of that " +
      "name could contradict it. " +
      "Bring store and guard back first (flyball restore). To begin another chain, move signing.key, origin and " +
      "vkey away: a new key is created."
    )
  }
}

/** The store was opened for reading only, and there is no chain in it yet. */
export class ChainMissing extends Schema.TaggedError<ChainMissing>()("ChainMissing", {}) {
  override get message(): string {
    return (
      "The store holds no chain, and it was opened for reading only. Start the server once, or check " +
      "the store's address."
    )
  }
}

/** The guard belongs to another chain. */
export class GuardRefused extends Schema.TaggedError<GuardRefused>()("GuardRefused", {
  expected: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return (
      `The guard belongs to ${this.found}, but the chain here is ${this.expected}. Use the data folder ` +
      "that was made with this store."
    )
  }
}

/** A recovery began a new chain and was stopped before keys and guard followed it. */
export class RecoveryUnfinished extends Schema.TaggedError<RecoveryUnfinished>()("RecoveryUnfinished", {
  from: Schema.String,
  to: Schema.String
}) {
  override get message(): string {
    return (
      `The recovery from ${this.from} to ${this.to} was stopped halfway: the store holds the new chain, ` +
      "and the keys or the guard still belong to the old one. Run flyball recover again; it finishes."
    )
  }
}

/** The key is this chain's, under a name that the chain had before a recovery which is done. */
export class KeyFromBefore extends Schema.TaggedError<KeyFromBefore>()("KeyFromBefore", {
  from: Schema.String,
  to: Schema.String
}) {
  override get message(): string {
    return (
      `The signing key here is named ${this.from}, as this chain was before a recovery; the store holds ` +
      `${this.to}, and that recovery is done. The key is the right one, from an older copy such as a vault's. ` +
      `Run flyball restore --rename-key: it gives the key the name ${this.to}.`
    )
  }
}

/** The guard belongs to a chain that this one follows: it has no state signed for this one. */
export class GuardFromBefore extends Schema.TaggedError<GuardFromBefore>()("GuardFromBefore", {
  from: Schema.String,
  to: Schema.String
}) {
  override get message(): string {
    return (
      `The guard here is of ${this.from}, as this chain was before a recovery; the store holds ${this.to}, and ` +
      "the guard knows of nothing that was signed for that. Bring back its newest copy. " +
      "Only when there is none: flyball recover --accept-rollback --guard-forgotten --reason TEXT continues " +
      "under another name."
    )
  }
}

/**
 * A file of the data folder is not valid. Never repaired automatically: it may be the only trace of what was signed.
 * Spec: decision 0007.
 */
export class KeysUnreadable extends Schema.TaggedError<KeysUnreadable>()("KeysUnreadable", {
  file: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.file}: ${this.reason}`
  }
}

/** Everything that opening a chain can fail with. */
export type StartError =
  | OriginInvalid
  | OriginRefused
  | KeyRefused
  | KeyRetired
  | RotationUnfinished
  | StoreBehindGuard
  | GuardDisagrees
  | GuardBehindStore
  | GuardRefused
  | GuardInDoubt
  | KeyFromElsewhere
  | ChainMissing
  | RecoveryUnfinished
  | KeyFromBefore
  | GuardFromBefore
  | KeysUnreadable
  | StorageUnavailable
  | StorageCorrupt
