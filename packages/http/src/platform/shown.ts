/** Writes problems in the form of document 2: one error, with its field. Spec: document 2 sections 2 and 7. */
import type { DetailItem } from "@flyball/contract"
import type { Problem } from "@flyball/contract/http"
import type { Incoming } from "../exchange.ts"

/** Members beside code and message that say what to do: they stay in the error. */
const dropped = ["detail", "code"]

const codes: { readonly [code: string]: string } = {
  invalid_input: "invalid_request",
  unauthorized: "invalid_api_key",
  forbidden: "permission_denied",
  key_not_allowed: "permission_denied",
  org_unit_not_allowed: "permission_denied",
  body_too_large: "payload_too_large",
  storage_unavailable: "service_unavailable",
  storage_conflict: "service_unavailable",
  issuer_unavailable: "service_unavailable",
  trust_store_unavailable: "service_unavailable",
  storage_corrupt: "service_unavailable",
  draining: "service_unavailable"
}

const types: { readonly [code: string]: string } = {
  quota_exceeded: "quota_error",
  plan_limit_reached: "quota_error",
  idempotency_key_reused: "idempotency_error",
  idempotency_key_in_use: "idempotency_error",
  idempotency_answer_lost: "idempotency_error",
  idempotency_not_supported: "idempotency_error"
}

const typeOf = (code: string, status: number): string => {
  const own = types[code]
  if (own !== undefined) return own
  if (status >= 500) return "api_error"
  switch (status) {
    case 401:
      return "authentication_error"
    case 403:
      return "permission_error"
    case 404:
      return "not_found_error"
    case 409:
      return "conflict_error"
    case 429:
      return "rate_limit_error"
    default:
      return "validation_error"
  }
}

const NO_KEY = "A valid bearer token is needed: a platform key or an OIDC session."

/** Refusals that no repetition of the request solves: a client that repeats each 409 is stopped. */
const isFinal = (status: number, code: string): boolean =>
  status === 501 || (status === 409 && code !== "idempotency_key_in_use") || code === "idempotency_key_reused"

/**
 * Writes a problem as callers of document 2 get it: `{error: {code, message, type, param, request_id}}`, or RFC 9457
 * where `Accept` asks for `application/problem+json`. Spec: document 2 sections 2 and 7; platform section 2.
 */
export const shown = (
  { body, headers, status: given }: Problem,
  { request, requestId }: { readonly requestId: string; readonly request: Pick<Incoming, "headers" | "url"> }
): Problem => {
  const problems = Array.isArray(body["detail"]) ? (body["detail"] as ReadonlyArray<DetailItem>) : null
  const status = problems === null ? given : 400
  const tag = problems === null ? String(body["code"]) : "invalid_input"
  const code = codes[tag] ?? (tag.endsWith("_not_found") ? "not_found" : tag)
  const param = problems?.[0] === undefined ? null : paramOf(problems[0])
  const sentence = tag === "unauthorized" ? NO_KEY : String(body["detail"])
  const message = problems?.[0] === undefined ? sentence : sentenceOf(problems[0], param)
  const more = Object.fromEntries(Object.entries(body).filter(([name]) => !dropped.includes(name)))
  const all = { ...headers, ...(isFinal(status, tag) ? { "x-should-retry": "false" } : {}) }
  const type = typeOf(tag, status)
  return (request.headers.accept ?? "").toLowerCase().includes("application/problem+json")
    ? {
        status,
        headers: { ...all, "content-type": "application/problem+json" },
        body: {
          type: "about:blank",
          title: code.replaceAll("_", " "),
          status,
          detail: message,
          instance: requestId,
          code,
          param,
          request_id: requestId,
          ...more
        }
      }
    : isOfMessages(request.url)
      ? {
          status,
          headers: all,
          body: {
            type: "error",
            error: { ...more, code, message, type: messagesType(status), param, request_id: requestId },
            request_id: requestId
          }
        }
      : { status, headers: all, body: { error: { ...more, code, message, type, param, request_id: requestId } } }
}

/** True for a request in the form of messages, whose clients read errors of their own form. */
const isOfMessages = (url = ""): boolean => /^(?:https?:\/\/[^/?]*)?\/v1\/gateway\/(?:v1\/)?messages(?:\?|$)/i.test(url)

/** The type of an error in the form of messages. */
const messagesType = (status: number): string => {
  const types: { readonly [status: number]: string } = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error"
  }
  return types[status] ?? (status >= 500 ? "api_error" : "invalid_request_error")
}

/** The place of a problem in words of the caller: `dataset.rows[3].age`; null for the body as a whole. */
const paramOf = ({ loc }: DetailItem): string | null =>
  loc
    .slice(1)
    .map((part, at) => (/^\d+$/.test(part) ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join("") || null

const sentenceOf = ({ msg }: DetailItem, param: string | null): string =>
  `${param === null ? "The body is not valid" : `${param} is not valid`}: ${msg.replace(/\.$/, "")}.`
