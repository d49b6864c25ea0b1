/**
 * A collector on a loopback address that takes OTLP/HTTP with JSON, and refuses whatever does not have the form of the
 * protocol.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A span as it was received. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly flags: number
  readonly name: string
  readonly kind: number
  readonly startNanos: bigint
  readonly endNanos: bigint
  readonly attributes: { readonly [name: string]: string | number | boolean }
  readonly status: number
}

type Json = { readonly [member: string]: unknown }

const fail = (what: string, value: unknown): never => {
  throw new Error(`${what}: ${JSON.stringify(value)}`)
}
const object = (value: unknown, what: string, ...members: ReadonlyArray<string>): Json => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fail(`${what} is no object`, value)
  const unknown = Object.keys(value).filter((name) => !members.includes(name))
  return unknown.length > 0 ? fail(`${what} has members that the protocol does not know`, unknown) : (value as Json)
}
const list = (value: unknown, what: string): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : fail(`${what} is no list`, value)
const text = (value: unknown, what: string, pattern: RegExp): string =>
  typeof value === "string" && pattern.test(value) ? value : fail(what, value)
const whole = (value: unknown, what: string, max: number): number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max ? (value as number) : fail(what, value)

const readAttributes = (value: unknown): ReceivedSpan["attributes"] =>
  Object.fromEntries(
    list(value, "attributes").map((one) => {
      const { key, value: given } = object(one, "an attribute", "key", "value")
      const any = object(given, "a value", "stringValue", "intValue", "doubleValue", "boolValue")
      const [[kind, inner], ...more] = Object.entries(any) as [[string, unknown], ...Array<unknown>]
      if (more.length > 0) fail("a value is two things", any)
      if (kind === "intValue")
        return [text(key, "a key", /./), Number(text(inner, "an int64 is text in JSON", /^-?\d+$/))]
      if (
        kind === "stringValue"
          ? typeof inner !== "string"
          : kind === "boolValue"
            ? typeof inner !== "boolean"
            : typeof inner !== "number"
      )
        fail(kind, inner)
      return [text(key, "a key", /./), inner as string | number | boolean]
    })
  )

const readSpan = (value: unknown): ReceivedSpan => {
  const span = object(
    value,
    "a span",
    "traceId",
    "spanId",
    "parentSpanId",
    "flags",
    "name",
    "kind",
    "startTimeUnixNano",
    "endTimeUnixNano",
    "attributes",
    "status"
  )
  const nanos = (name: string): bigint => BigInt(text(span[name], `${name} is nanoseconds as text`, /^[1-9]\d{18}$/))
  return {
    traceId: text(span["traceId"], "traceId", /^(?!0+$)[0-9a-f]{32}$/),
    spanId: text(span["spanId"], "spanId", /^(?!0+$)[0-9a-f]{16}$/),
    parentSpanId:
      span["parentSpanId"] === undefined ? null : text(span["parentSpanId"], "parentSpanId", /^(?!0+$)[0-9a-f]{16}$/),
    flags: whole(span["flags"], "flags", 0x3ff),
    name: text(span["name"], "name", /./),
    kind: whole(span["kind"], "kind", 5),
    startNanos: nanos("startTimeUnixNano"),
    endNanos: nanos("endTimeUnixNano"),
    attributes: readAttributes(span["attributes"]),
    status: whole(object(span["status"], "status", "code", "message")["code"], "status", 2)
  }
}

const readRequest = (
  body: unknown
): { readonly resources: ReadonlyArray<ReceivedSpan["attributes"]>; readonly spans: ReadonlyArray<ReceivedSpan> } => {
  const groups = list(object(body, "the request", "resourceSpans")["resourceSpans"], "resourceSpans").map((group) =>
    object(group, "resourceSpans", "resource", "scopeSpans")
  )
  return {
    resources: groups.map(({ resource }) => readAttributes(object(resource, "resource", "attributes")["attributes"])),
    spans: groups
      .flatMap(({ scopeSpans }) => list(scopeSpans, "scopeSpans"))
      .flatMap((scoped) => {
        const { scope, spans } = object(scoped, "scopeSpans", "scope", "spans")
        text(object(scope, "scope", "name", "version")["name"], "the scope's name", /./)
        return list(spans, "spans").map(readSpan)
      })
  }
}

/**
 * Starts a collector on a free port. `answer` says how each request is answered: with a status, never, or with a
 * redirect to an address.
 */
export const openCollector = async (answer: () => number | "never" | { readonly to: string } = () => 200) => {
  const received: Array<ReceivedSpan> = []
  const resources: Array<ReceivedSpan["attributes"]> = []
  const requests: Array<{ readonly path: string; readonly headers: IncomingHttpHeaders; readonly text: string }> = []
  const problems: Array<string> = []
  const held: Array<ServerResponse> = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const bodyText = Buffer.concat(chunks).toString("utf8")
      requests.push({ path: request.url ?? "", headers: request.headers, text: bodyText })
      const status = answer()
      if (status === "never") held.push(response)
      else if (typeof status === "object") response.writeHead(307, { location: status.to }).end()
      else {
        try {
          if (
            request.method !== "POST" ||
            request.url !== "/v1/traces" ||
            request.headers["content-type"] !== "application/json"
          )
            fail("no export of spans as JSON", [request.method, request.url, request.headers["content-type"]])
          const read = readRequest(JSON.parse(bodyText))
          if (status === 200) {
            received.push(...read.spans)
            resources.push(...read.resources)
          }
        } catch (error) {
          problems.push(String(error))
        }
        response.writeHead(status, { "content-type": "application/json" }).end("{}")
      }
      for (const wake of waiting) wake()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Spans of requests that were answered 200. */
    received,
    resources,
    requests,
    /** Requests that did not have the form of the protocol. */
    problems,
    /** Waits until so many requests came. */
    requested: (count: number) =>
      new Promise<void>((resolve) => {
        const check = (): void => {
          if (requests.length < count) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    close: async () => {
      for (const response of held) response.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

/** An open collector. */
export type Collecting = Awaited<ReturnType<typeof openCollector>>
