/** What `@flyball/server` promises. Everything not listed may change tomorrow. */
export {
  DEV_AUDIENCE,
  DEV_ISSUER,
  type DevIssuer,
  devIssuer,
  openDevIssuer,
  TOKEN_SECONDS,
  type TokenRequest
} from "./dev-issuer.ts"
export type { TokenVerifier } from "./http/authenticate.ts"
export type { Services } from "./http/call.ts"
export type { LogRequest, RequestLog } from "./http/log.ts"
export { defaultTimes, type FlyballServer, makeServer, type ServerOptions, type ServerTimes } from "./http/server.ts"
