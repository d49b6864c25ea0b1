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

/** Returns the modules of capabilities, in order. */
export const modulesOf = (capabilities: ReadonlyArray<Capability>): ReadonlyArray<AnyModule> =>
  capabilities.flatMap(({ modules }) => modules as ReadonlyArray<AnyModule>)
