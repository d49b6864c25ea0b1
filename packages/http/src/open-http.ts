/**
 * Mounts the whole API in a host that has a governor: so that people and agents outside its program reach what it
 * governs.
 *
 * Nothing of Effect is in a signature here; `@flyball/http/effect` is for hosts on Effect's platform.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { type Governor, mountOn } from "@flyball/core"
import { answerFetch } from "./adapters/fetch.ts"
import type { GivenBody } from "./adapters/given-body.ts"
import { answerNode, type Next } from "./adapters/node.ts"
import { type HttpOptions, readOptions } from "./options.ts"
import { openSurface } from "./surface.ts"

/** The API of one governor, mounted. Its functions may be passed on by themselves. */
export interface HttpApi extends AsyncDisposable {
  /**
   * Answers a `Request` of the web platform: Hono, Next, Deno, Bun. Bodies stream both ways; the request's signal ends
   * it. `given` names a body that the host has read already.
   *
   * - Fails: rejects with the signal's reason where it aborts before the answer begins; with nothing else.
   */
  readonly fetch: (request: Request, given?: GivenBody) => Promise<Response>
  /**
   * Answers a request of Node's: Express, Connect, Nest, Fastify's `raw`. What another reader left in `req.body` or
   * `req.rawBody` is taken where the body was read already, or what is passed as `{ body }`. Requests that are not the
   * API's go on to `next`, where there is one, and are 404 otherwise.
   */
  readonly node: (request: IncomingMessage, response: ServerResponse, next?: Next | GivenBody) => void
  /**
   * Answers 503 from now on, and resolves when what is under way is finished, or was cut off after `closeMs`. Close the
   * governor after it.
   */
  readonly close: () => Promise<void>
}

/**
 * Opens the HTTP API of a governor. It listens nowhere by itself.
 *
 * - Fails: throws `GovernorError`, code `invalid_option`.
 */
export const openHttp = (governor: Governor, options: HttpOptions = {}): HttpApi => {
  const mount = mountOn(governor)
  const surface = openSurface({ ...mount, ...readOptions(options) })
  return {
    fetch: (request, given) => answerFetch(surface, request, given),
    node: (request, response, next) => answerNode(surface, request, response, next),
    close: surface.close,
    [Symbol.asyncDispose]: surface.close
  }
}
