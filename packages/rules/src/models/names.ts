/** Resolves the names of models, for the kill switch and for prices. Pure. */
import type { ModelDocument } from "./document.ts"

/** The registered models that names are resolved by, each under its id `mdl_…`. */
export type RegisteredModels = Pick<ReadonlyMap<string, NamedModel>, "get">

/** The members of a model that name it. They never change. */
export type NamedModel = Pick<ModelDocument, "name" | "provider" | "version">

/** No model is registered. */
export const noModels: RegisteredModels = new Map<string, NamedModel>()

/** The names of a registered model: its id, `name`, `provider/name`, and the last two with `@version`. */
export const namesOfModel = (id: string, { name, provider, version }: NamedModel): ReadonlyArray<string> => {
  const bare = [name, `${provider}/${name}`]
  return [id, ...bare, ...(version === null ? [] : bare.map((one) => `${one}@${version}`))]
}

/**
 * True when two texts may name one model. Each is an id `mdl_…`, `name`, `provider/name`, or one of these with
 * `@version`. A text without provider or version names every model that it fits: a halt rather reaches too many agents
 * than one too few. Two ids of registered models never name one.
 *
 * - Spec: api.md, POST /bound/kill/activate.
 */
export const isSameModel = (a: string, b: string, registered: RegisteredModels): boolean => {
  if (a === b) return true
  const [one, other] = [registered.get(a), registered.get(b)]
  if (one !== undefined && other !== undefined) return false
  if (one !== undefined) return namesOfModel(a, one).includes(b) || fits(fullNameOf(one), b)
  if (other !== undefined) return namesOfModel(b, other).includes(a) || fits(fullNameOf(other), a)
  return fits(a, b)
}

const fullNameOf = ({ name, provider, version }: NamedModel): string =>
  `${provider}/${name}${version === null ? "" : `@${version}`}`

const fits = (a: string, b: string): boolean => {
  const [one, other] = [split(a), split(b)]
  return (
    (one.version === null || other.version === null || one.version === other.version) &&
    (one.base === other.base || one.base.endsWith(`/${other.base}`) || other.base.endsWith(`/${one.base}`))
  )
}

const split = (text: string): { readonly base: string; readonly version: string | null } => {
  const at = text.lastIndexOf("@")
  return at <= 0 ? { base: text, version: null } : { base: text.slice(0, at), version: text.slice(at + 1) }
}
