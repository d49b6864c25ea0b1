/** The little of `oidc-provider` that the end-to-end test uses; the package brings no types. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http"
  export default class Provider {
    constructor(issuer: string, configuration: { readonly [name: string]: unknown })
    callback(): (request: IncomingMessage, response: ServerResponse) => void
  }
}
