/** Refusals about the chain: records, parts, packs. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no record with this seq. Spec: api.md, Conventions. */
export class RecordNotFound extends Schema.TaggedError<RecordNotFound>()("RecordNotFound", {
  seq: reported(Schema.Int)
}) {
  static readonly status = 404
  static get example(): RecordNotFound {
    return new RecordNotFound({})
  }
  override get message(): string {
    return "There is no record with this seq."
  }
}

/**
 * There is no chain of this name beside the store, or nothing of it is signed. Spec: api.md, Conventions; decision
 * 0010.
 */
export class ChainNotFound extends Schema.TaggedError<ChainNotFound>()("ChainNotFound", {
  origin: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): ChainNotFound {
    return new ChainNotFound({})
  }
  override get message(): string {
    return "There is no chain of this name, current or retired."
  }
}

/** The record has no part of this name. Spec: format 1 section 3; decision 0008. */
export class PartNotFound extends Schema.TaggedError<PartNotFound>()("PartNotFound", {
  seq: reported(Schema.Int),
  name: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): PartNotFound {
    return new PartNotFound({})
  }
  override get message(): string {
    return "The record has no part with this name that may be erased."
  }
}

/** The part was erased before. `erasedBy` is the record that says so. Spec: format 1 section 3. */
export class PartErased extends Schema.TaggedError<PartErased>()("PartErased", {
  seq: reported(Schema.Int),
  name: reported(Schema.String),
  erasedBy: reported(Schema.Int)
}) {
  static readonly status = 409
  static get example(): PartErased {
    return new PartErased({ erasedBy: 7 })
  }
  override get message(): string {
    return "This part is erased already. erased_by is the record of that erasure."
  }
}

/** There is no such evidence pack, or the caller may not see it. Spec: api.md, Conventions. */
export class PackNotFound extends Schema.TaggedError<PackNotFound>()("PackNotFound", {
  packId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): PackNotFound {
    return new PackNotFound({})
  }
  override get message(): string {
    return "There is no such evidence pack among those that the caller may see."
  }
}
