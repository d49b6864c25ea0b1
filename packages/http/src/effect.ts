/** The API as a layer of routes, for hosts on Effect's platform: `effect/http`'s `HttpRouter`. */
import type { Layer } from "effect"
import type { HttpRouter } from "effect/http"
import { effectRoutes } from "./adapters/effect.ts"
import type { Services } from "./request/call.ts"
import { type HttpOptions, readOptions } from "./options.ts"

export type { Services } from "./request/call.ts"
export type { HostAuthenticate, HostCaller, HostRequest } from "./request/host-authentication.ts"
export type { Authentication, HttpOptions, OidcSettings } from "./options.ts"

/**
 * Routes of the whole API below `prefix`, over the governor's services and its store. Requests under way are finished
 * when the layer's scope closes.
 *
 * - Fails: throws `GovernorError`, code `invalid_option`.
 */
export const flyballRoutes = (options: HttpOptions = {}): Layer.Layer<never, never, HttpRouter.HttpRouter | Services> =>
  effectRoutes(readOptions(options))
