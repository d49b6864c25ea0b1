/** Ids of requests: the caller's own where it is sane, else a new one. */
import { randomUUID } from "node:crypto"

const SANE = /^[A-Za-z0-9._:/@+-]{1,128}$/

/** The id of a request by its X-Request-Id header. */
export const requestId = (header: string | ReadonlyArray<string> | undefined): string =>
  typeof header === "string" && SANE.test(header) ? header : randomUUID()
