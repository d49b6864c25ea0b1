/** A model as state. Plain data. */

/**
 * A model's document. It has no personal data: names of models are identifiers in the record's body. Spec: document 1
 * section 4, GET /models; its fields are a gap: format 1 section 8, `model.registered`.
 */
export type ModelDocument = {
  readonly provider: string
  readonly name: string
  readonly version: string | null
  readonly status: "allowed" | "restricted" | "retired"
  readonly hosting: "vendor_api" | "cloud_tenant" | "self_hosted" | null
  /** Unit: millionths of a US dollar for a million tokens. */
  readonly inputMicroUsdPerMtok: number | null
  readonly outputMicroUsdPerMtok: number | null
}

/** Unique look-up keys of a model. A name has no space, so the three stay apart. */
export const modelUnique = ({
  name,
  provider,
  version
}: Pick<ModelDocument, "name" | "provider" | "version">): { readonly model: string } => ({
  model: [provider, name, ...(version === null ? [] : [version])].join(" ")
})
