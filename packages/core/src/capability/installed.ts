/** The modules of installed capabilities, with their types. */
import type { Group } from "@flyball/contract/http"
import type { Layer } from "effect"
import type { Capability } from "./capability.ts"
import type { Module } from "./module.ts"

/** A module whose types are behind it. */
export interface AnyModule extends Module<
  string,
  Group,
  unknown,
  Layer.Layer<never, any, any>,
  Layer.Layer<never, any, any>
> {}

/**
 * Returns the modules of capabilities, in order; a module in place of a placeholder of its name. Two of one name are a
 * defect: which of them answers would depend on their order.
 */
export const modulesOf = (capabilities: ReadonlyArray<Capability>): ReadonlyArray<AnyModule> => {
  const all = capabilities.flatMap(({ modules }) => modules as ReadonlyArray<AnyModule>)
  const installed = all.filter(({ isPlaceholder }) => !isPlaceholder).map(({ name }) => name)
  const twice = installed.find((name, at) => installed.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`The module ${twice} is installed twice. Pass it in one capability.`)
  return all.filter(({ isPlaceholder, name }) => !isPlaceholder || !installed.includes(name))
}
