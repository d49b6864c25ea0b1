/** Refusals about who may do what: tokens, roles, keys, the access mapping. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/**
 * No token, or one that is unknown, expired or revoked. The answer is the same for all, so that it reveals nothing.
 * Spec: document 1 section 5, items 1 and 2.
 */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  problem: reported(Schema.String)
}) {
  static readonly status = 401
  static get example(): Unauthorized {
    return new Unauthorized({})
  }
  override get message(): string {
    return "A valid bearer token is needed: an ingest key or an OIDC session."
  }
}

/**
 * The caller's roles, or their org units, do not include this action. `need`: what it takes. `have`: what the caller
 * has instead. `incomplete`: claims of a token without a role that lack values; the answer names them. Spec: document 1
 * section 5, item 7; decision 0016.
 */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", {
  need: reported(Schema.String),
  have: reported(Schema.String),
  incomplete: reported(Schema.Array(Schema.String))
}) {
  static readonly status = 403
  static get example(): Forbidden {
    return new Forbidden({})
  }
  override get message(): string {
    const { have, need } = this
    return need === undefined
      ? "The caller's role does not include this action."
      : `This action needs ${need}${have === undefined ? "" : `; you have ${have}`}.`
  }
}

/**
 * An ingest key was used where a person is needed. The sentence is the specification's. Spec: document 1 section 5,
 * item 4, and section 7.
 */
export class KeyNotAllowed extends Schema.TaggedError<KeyNotAllowed>()("KeyNotAllowed", {}) {
  static readonly status = 403
  static get example(): KeyNotAllowed {
    return new KeyNotAllowed()
  }
  override get message(): string {
    return "This action needs an OIDC session."
  }
}

/** The caller may not act for this org unit. Spec: document 1 section 5, item 3. */
export class OrgUnitNotAllowed extends Schema.TaggedError<OrgUnitNotAllowed>()("OrgUnitNotAllowed", {
  /** The org unit that the act needs, where it is not one that the caller named. */
  needs: Schema.optionalKey(Schema.Literal("*"))
}) {
  static readonly status = 403
  static get example(): OrgUnitNotAllowed {
    return new OrgUnitNotAllowed({})
  }
  override get message(): string {
    if (this.needs !== undefined)
      return `This act concerns every org unit: it needs a grant of org unit ${this.needs}, which the caller lacks.`
    return "The caller is bound to another org unit. Leave org_unit out, or use a caller of that unit."
  }
}

/** The access mapping was changed since it was read. `version` is the one that is there. Spec: api.md, Conventions. */
export class MappingVersionConflict extends Schema.TaggedError<MappingVersionConflict>()("MappingVersionConflict", {
  version: reported(Schema.Int)
}) {
  static readonly status = 409
  static get example(): MappingVersionConflict {
    return new MappingVersionConflict({ version: 2 })
  }
  override get message(): string {
    return "The access mapping has changed since it was read. Read it again and send the change with its version."
  }
}

/** There is no such ingest key, or the caller may not see it. Spec: api.md, Conventions. */
export class IngestKeyNotFound extends Schema.TaggedError<IngestKeyNotFound>()("IngestKeyNotFound", {
  keyId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): IngestKeyNotFound {
    return new IngestKeyNotFound({})
  }
  override get message(): string {
    return "There is no such ingest key among those that the caller may see."
  }
}

/** No record names this person. Spec: api.md, Conventions. */
export class PrincipalNotFound extends Schema.TaggedError<PrincipalNotFound>()("PrincipalNotFound", {
  principalId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): PrincipalNotFound {
    return new PrincipalNotFound({})
  }
  override get message(): string {
    return "There is no such principal."
  }
}
