/** Governs MCP clients. What is not listed here may change without notice. */
export type { CallOptions } from "./calls.ts"
export { DENIED_META } from "./json-rpc.ts"
export type { TransportLike } from "./transport.ts"
export { governTransport } from "./transport.ts"
