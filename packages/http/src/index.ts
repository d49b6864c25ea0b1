/** Public API of `@flyball/http` for hosts. Everything not listed may change tomorrow. */
export type { GivenBody } from "./adapters/given-body.ts"
export type { Next } from "./adapters/node.ts"
export type { HostAuthenticate, HostCaller, HostRequest } from "./request/host-authentication.ts"
export type { LogRequest, RequestLog } from "./log.ts"
export { type HttpApi, openHttp } from "./open-http.ts"
export type { Authentication, HttpOptions, OidcSettings } from "./options.ts"
