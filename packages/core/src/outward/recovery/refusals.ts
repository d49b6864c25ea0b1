/** Why a recovery does not begin. Each sentence says what was expected, what was seen and what to do. */
import { Schema } from "effect"
import { MAX_REASON } from "./reason.ts"

/** The store and its guard agree: there is no reason to leave the chain. */
export class NothingToRecover extends Schema.TaggedError<NothingToRecover>()("NothingToRecover", {
  origin: Schema.NullOr(Schema.String),
  stored: Schema.Int
}) {
  override get message(): string {
    return this.origin === null
      ? "There is nothing to recover: the store is empty, and nothing was ever signed with these keys. Start " +
          "the server."
      : `There is nothing to recover: the store of ${this.origin} holds ` +
          `${this.stored === 1 ? "1 record" : `${this.stored} records`}, and all that was signed for it, as far ` +
          "as the guard knows, is there. Start the server. " +
          "Only when the guard is an older copy, so that more was signed than it knows of: flyball recover " +
          "--accept-rollback --guard-forgotten --reason TEXT."
  }
}

/** The reason is no text that a person would find helpful later. */
export class ReasonInvalid extends Schema.TaggedError<ReasonInvalid>()("ReasonInvalid", { length: Schema.Int }) {
  override get message(): string {
    return (
      `A reason of 1 to ${MAX_REASON} characters, one of them visible, is expected, and this one has ` +
      `${this.length}. It is sealed into the first record of the new chain: say what happened.`
    )
  }
}

/** The new name is one that a chain had before. */
export class OriginTaken extends Schema.TaggedError<OriginTaken>()("OriginTaken", { origin: Schema.String }) {
  override get message(): string {
    return (
      `A chain with the name ${this.origin} existed here before, and each name has one history. Choose another, ` +
      `or leave it out.`
    )
  }
}

/** The key has the name that the chain has. */
export class KeyNamedAlready extends Schema.TaggedError<KeyNamedAlready>()("KeyNamedAlready", {
  origin: Schema.String
}) {
  override get message(): string {
    return `There is nothing to rename: the signing key here belongs to ${this.origin}, and so does the store.`
  }
}

/** The keys, or the kind of store, cannot begin a chain again. */
export class RecoveryUnsupported extends Schema.TaggedError<RecoveryUnsupported>()("RecoveryUnsupported", {
  what: Schema.Literals(["store", "keys"])
}) {
  override get message(): string {
    return this.what === "store"
      ? "This store cannot be retired: it is in memory, or open for reading only. Open the file or the database " +
          "that is to be recovered."
      : "These keys are bound to the name of their chain. Use keys that can be renamed, such as a data folder."
  }
}
