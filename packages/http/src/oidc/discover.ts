/** Where an issuer keeps its keys, and what they are. Spec: OpenID Connect Discovery 1.0, section 4. */
import type { JSONWebKeySet } from "jose"
import { IssuerUnavailable } from "../request/issuer-unavailable.ts"
import { isIssuerUrl } from "./issuer-url.ts"

/** How long a request to the issuer may take. Unit: milliseconds. */
const REQUEST_MS = 5_000
/** A discovery document is a few kilobytes, and so are keys. Unit: bytes. */
const MAX_BYTES = 262_144

/**
 * An issuer's keys, at the address that it names now. Whether they are a key set is for the reader to say.
 *
 * - Fails: as {@link discover}, and when the keys cannot be had.
 */
export const fetchKeys = async (issuer: string): Promise<JSONWebKeySet> =>
  (await fetchJson((await discover(issuer)).href)) as JSONWebKeySet

/**
 * The address of an issuer's keys.
 *
 * - Fails: rejects with `IssuerUnavailable` when the document cannot be had, is another issuer's, or names an address
 *   that is not https (loopback apart).
 */
const discover = async (issuer: string): Promise<URL> => {
  const { jwks_uri: keys } = await discovery(issuer)
  if (typeof keys !== "string" || !isIssuerUrl(keys))
    throw new IssuerUnavailable({ reason: `${documentOf(issuer)} names no https address of its keys` })
  return new URL(keys)
}

/**
 * The discovery document of an issuer.
 *
 * - Fails: rejects with `IssuerUnavailable` when it cannot be had, or is another issuer's.
 * - Spec: OpenID Connect Discovery 1.0, section 4.
 */
export const discovery = async (issuer: string): Promise<{ readonly [name: string]: unknown }> => {
  const url = documentOf(issuer)
  const read = await fetchJson(url)
  const document = typeof read === "object" && read !== null ? (read as { readonly [name: string]: unknown }) : {}
  // Otherwise one issuer could answer in the name of another.
  if (document["issuer"] !== issuer)
    throw new IssuerUnavailable({
      reason: `${url} says that it is of another issuer: ${JSON.stringify(document["issuer"])}`
    })
  return document
}

const documentOf = (issuer: string): string => `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`

const fetchJson = async (url: string): Promise<unknown> => {
  try {
    const response = await fetch(url, {
      redirect: "error",
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(REQUEST_MS)
    })
    if (response.status !== 200) throw new Error(`it answers ${response.status}`)
    const chunks: Array<Uint8Array> = []
    let size = 0
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`)
      chunks.push(chunk)
    }
    return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)))
  } catch (cause) {
    const why =
      cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause)
    throw new IssuerUnavailable({ reason: `${url} cannot be read: ${why}` })
  }
}
