/**
 * Why a key is not rotated, or a chain not opened after it was. Each sentence says what was expected, what was seen and
 * what to do.
 */
import { Schema } from "effect"

/** The signing key cannot be rotated here. Spec: format 1 section 4, "Rotation"; decision 0011. */
export class RotationRefused extends Schema.TaggedError<RotationRefused>()("RotationRefused", {
  reason: Schema.String
}) {
  override get message(): string {
    return `The signing key was not rotated: ${this.reason}`
  }
}

/** The signing key is one that signed for the chain once, and was rotated away. */
export class KeyRetired extends Schema.TaggedError<KeyRetired>()("KeyRetired", {
  origin: Schema.String,
  seq: Schema.Int,
  expected: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return (
      `Record ${this.seq} of ${this.origin} rotates the signing key to ${this.expected}, but the signing key ` +
      `here is the older ${this.found}. ` +
      "This data folder is a copy from before the rotation: use the one that the rotation was made in, or " +
      "bring its newest copy back."
    )
  }
}

/**
 * A rotation is in the records, the checkpoint that both keys must sign is missing, and one of the two keys is gone.
 */
export class RotationUnfinished extends Schema.TaggedError<RotationUnfinished>()("RotationUnfinished", {
  origin: Schema.String,
  seq: Schema.Int,
  missing: Schema.String
}) {
  override get message(): string {
    return (
      `Record ${this.seq} of ${this.origin} rotates the signing key, and no stored checkpoint that covers it ` +
      `carries both signatures. The key ${this.missing} must still sign, and is not here. ` +
      "Bring back the data folder as it was when the rotation began, with both its keys; the next start then " +
      "finishes the rotation."
    )
  }
}
