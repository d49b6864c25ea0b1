/** Public API of `@flyball/server`. Everything not listed may change tomorrow. */
export {
  DEV_AUDIENCE,
  DEV_ISSUER,
  type DevIssuer,
  devIssuer,
  openDevIssuer,
  TOKEN_SECONDS,
  type TokenRequest
} from "./dev-issuer.ts"
export type { LogRequest, RequestLog, Services, TokenVerifier } from "@flyball/http/server"
export { defaultTimes, type FlyballServer, makeServer, type ServerOptions, type ServerTimes } from "./http/server.ts"
